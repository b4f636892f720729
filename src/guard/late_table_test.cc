#include "guard/late_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/manual_clock.h"
#include "guard/fake_table.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class LateTableTest : public ::testing::Test {
 protected:
  static std::unique_ptr<GuardedTable> fake() { return std::make_unique<FakeTable>(settings()); }
  static GuardSettings settings() { return {.name = "bills", .table = "user_bill"}; }
  LateTable late(LateTable::Open open) {
    return {settings(), std::move(open), {ErrorCode::kUnavailable, "it is away"}, clock_, log_};
  }
  ManualClock clock_{TimePoint()};
  MemoryLog log_;
};

TEST_F(LateTableTest, UntilItIsThereEverybodyIsToldWhyAtOnce) {
  int tries = 0;
  LateTable table = late([&]() -> Result<std::unique_ptr<GuardedTable>> {
    ++tries;
    return fake();
  });

  EXPECT_EQ(table.settings().name, "bills");
  EXPECT_TRUE(table.add_columns(1s)) << "that is part of opening it";
  for (const ErrorCode code :
       {table.heal(1, 1s).error().code, table.claim(RowId(1), 1s, 1s).error().code,
        table.mark_abnormal(RowId(1), std::nullopt, 1s).error().code,
        table.parse_id("1").error().code, table.report(1s).error().code}) {
    EXPECT_EQ(code, ErrorCode::kUnavailable);
  }
  EXPECT_THAT(table.now(1s).error().message, HasSubstr("it is away"));
  EXPECT_EQ(tries, 0) << "not again in the same second";
}

TEST_F(LateTableTest, ScansTryItWithPausesThatGrow) {
  int tries = 0;
  LateTable table = late([&]() -> Result<std::unique_ptr<GuardedTable>> {
    ++tries;
    return fail(ErrorCode::kUnavailable, "it is still away");
  });
  std::vector<int> by_minute;
  for (int second = 0; second < 600; ++second) {
    clock_.advance(1s);
    (void)table.heal(1, 1s);
    if (second == 59 || second == 299 || second == 599) by_minute.push_back(tries);
  }
  // After 1, 2, 4, 8, 16 and 32 s more, and then once a minute.
  EXPECT_THAT(by_minute, ::testing::ElementsAre(5, 9, 14));
}

TEST_F(LateTableTest, OnceItIsOpenItIsATableLikeAnyOther) {
  int tries = 0;
  LateTable table = late([&]() -> Result<std::unique_ptr<GuardedTable>> {
    if (++tries == 1) return fail(ErrorCode::kInvalid, "there is no such table");
    auto file = std::make_unique<FakeTable>(settings());
    file->is_file = true;
    return file;
  });
  clock_.advance(1s);
  EXPECT_FALSE(table.heal(1, 1s));
  EXPECT_THAT(table.now(1s).error().message, HasSubstr("no such table")) << "what is wrong now";
  clock_.advance(2s);

  EXPECT_TRUE(table.heal(1, 1s));

  EXPECT_TRUE(table.now(1s));
  EXPECT_FALSE(table.adds_indexes_beside_others());
  EXPECT_TRUE(table.mark_abnormal(RowId(1), std::nullopt, 1s));
  EXPECT_THAT(log_.lines(), ::testing::Contains(HasSubstr("guard_ready")));
}

}  // namespace
}  // namespace recourse::guard
