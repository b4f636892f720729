// How relational::migrate goes from one schema to the next, with steps that must not be repeated:
// each notes that it was done.
#include "store/relational/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sql/sqlite/connection.h"
#include "store/sqlite/schema.h"

namespace recourse::store::sqlite {
namespace {

using relational::Migration;
using testing::ElementsAre;

constexpr auto kSteps = std::to_array<std::string_view>({
    "CREATE TABLE step (name TEXT)",
    "INSERT INTO step VALUES ('one of the first')",
    "INSERT INTO step VALUES ('two of the first')",
});
constexpr auto kStepsAfter = std::to_array<std::string_view>({
    "INSERT INTO step VALUES ('one of the second')",
});
constexpr std::array kBoth{Migration{kSteps}, Migration{kStepsAfter}};
constexpr std::span<const Migration> kTheFirst = std::span(kBoth).first(1);

class Migrations : public testing::Test {
 protected:
  Result<> migrate_to(std::span<const Migration> migrations) {
    return relational::migrate(*database_, kCreateMeta, migrations);
  }
  std::vector<std::string> steps_done() {
    std::vector<std::string> names;
    EXPECT_TRUE(database_->query("SELECT name FROM step ORDER BY rowid", {},
                                 [&](const auto& row) { names.emplace_back(row.bytes(0)); }));
    return names;
  }

 private:
  std::unique_ptr<sql::Connection> database_ =
      sql::sqlite::open(":memory:", sql::sqlite::Access::kWrite).value();
};

TEST_F(Migrations, AnEmptyDatabaseGetsAllStepsInTheirOrder) {
  ASSERT_TRUE(migrate_to(kBoth));

  EXPECT_THAT(steps_done(),
              ElementsAre("one of the first", "two of the first", "one of the second"));
}

TEST_F(Migrations, ADatabaseThatHasTheFirstGetsOnlyTheSecond) {
  ASSERT_TRUE(migrate_to(kTheFirst));
  ASSERT_THAT(steps_done(), ElementsAre("one of the first", "two of the first"));

  ASSERT_TRUE(migrate_to(kBoth));

  EXPECT_THAT(steps_done(),
              ElementsAre("one of the first", "two of the first", "one of the second"));
}

TEST_F(Migrations, ADatabaseThatHasAllIsLeftAsItIs) {
  ASSERT_TRUE(migrate_to(kBoth));

  ASSERT_TRUE(migrate_to(kBoth));

  EXPECT_THAT(steps_done(),
              ElementsAre("one of the first", "two of the first", "one of the second"));
}

TEST_F(Migrations, ADatabaseOfANewerProgramIsRefused) {
  ASSERT_TRUE(migrate_to(kBoth));

  const Result<> refused = migrate_to(kTheFirst);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("schema 2"));
}

}  // namespace
}  // namespace recourse::store::sqlite
