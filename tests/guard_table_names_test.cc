// Names from a configuration: whatever is written there, it is refused, or exactly that table and
// those columns are meant.
#include <array>

#include "base/rng.h"
#include "tests/guard_table_fixture.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class GuardNames : public GuardOnDatabase {
 protected:
  void SetUp() override {
    make_bills();
    add_bill(1);
    add_bill(2);
    run("CREATE TABLE canary (id INT PRIMARY KEY, status VARCHAR(20), note VARCHAR(40))");
    run("INSERT INTO canary VALUES (1, 'FAIL', 'untouched'), (2, 'SUCCESS', 'too')");
    database_ = guard::open_database(place_.url()).value();
  }
  Result<std::unique_ptr<GuardedTable>> try_open(const GuardSettings& settings) {
    return guard::open_table(database_, settings, 10s);
  }
};
INSTANTIATE_TEST_SUITE_P(, GuardNames, kGuardDatabases, guard_database_name);

constexpr auto kPieces = std::to_array<std::string_view>({"user_bill",
                                                          "canary",
                                                          "status",
                                                          "id",
                                                          "err_status",
                                                          "\"",
                                                          "`",
                                                          "'",
                                                          ";",
                                                          "--",
                                                          "/*",
                                                          "*/",
                                                          " ",
                                                          "\n",
                                                          "\t",
                                                          ".",
                                                          ",",
                                                          "(",
                                                          ")",
                                                          "\\",
                                                          "%",
                                                          "?",
                                                          "$1",
                                                          "$$",
                                                          "[",
                                                          "]",
                                                          "=",
                                                          "DROP TABLE canary",
                                                          "UPDATE canary SET note = 'hit'",
                                                          "SELECT",
                                                          "OR 1=1",
                                                          "public",
                                                          "information_schema",
                                                          "sqlite_master",
                                                          "pg_class",
                                                          "NULL",
                                                          "x",
                                                          "ü",
                                                          "异常",
                                                          "\xC3",
                                                          "\x01",
                                                          "User_Bill",
                                                          "STATUS",
                                                          "0",
                                                          "_",
                                                          "rowid",
                                                          "ctid"});

std::uint64_t below(Rng& rng, std::uint64_t end) { return rng.between(std::uint64_t{0}, end - 1); }

std::string hostile(Rng& rng) {
  std::string name;
  const auto pieces = below(rng, 6);
  for (std::uint64_t i = 0; i <= pieces; ++i) name += kPieces[below(rng, kPieces.size())];
  if (below(rng, 20) == 0) name += std::string(below(rng, 200), 'a');
  if (below(rng, 20) == 0) name += '\0';
  return name;
}

// 10,000 with --full.
TEST_P(GuardNames, HostileOnesAreRefusedAndHarmNobody) {
  const int names = is_full() ? 10'000 : 1'000;
  const auto before = snapshot("canary");
  const auto bills = snapshot();
  Rng rng(20'260'205);

  for (int i = 0; i < names; ++i) {
    GuardSettings settings = bill_settings();
    const std::string name = hostile(rng);
    const std::array<std::string*, 4> fields{&settings.table, &settings.id_field,
                                             &settings.status_field, &settings.user_field};
    *fields[below(rng, fields.size())] = name;
    const auto opened = try_open(settings);
    // What is let in is a name that is really there, as it is written there.
    if (!opened) continue;
    EXPECT_THAT((std::vector<std::string>{"user_bill", "canary"}),
                ::testing::Contains(settings.table));
    EXPECT_THAT((std::vector<std::string>{"id", "status", "user_id", "amount", "note"}),
                ::testing::AllOf(::testing::Contains(settings.id_field),
                                 ::testing::Contains(settings.status_field)));
  }

  EXPECT_EQ(snapshot("canary"), before);
  EXPECT_EQ(snapshot(), bills);
}

TEST_P(GuardNames, HostileValuesAreValuesAndNothingElse) {
  const auto table = guard_bills();
  const auto before = snapshot("canary");
  const auto bills = snapshot();
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    const std::string value = hostile(rng);
    (void)table->open_rows_of(value, 10, 5s);
    (void)table->parse_id(value);
    EXPECT_TRUE(is_postgres() || table->find(RowId(99), 5s));
  }
  EXPECT_EQ(snapshot("canary"), before);
  EXPECT_EQ(snapshot(), bills);
}

// Words of SQL, capitals, 63 letters: quoted, they are names like any other.
TEST_P(GuardNames, WhateverMayBeANameMeansThatTableOnly) {
  const std::string quote = is_mariadb() ? "`" : "\"";
  const auto quoted = [&](const std::string& name) { return quote + name + quote; };
  const std::string longest(63, 'z');
  for (const std::string& name : {std::string("select"), std::string("Order"), std::string("_"),
                                  longest, longest.substr(1) + "y"}) {
    run("CREATE TABLE " + quoted(name) + " (" + quoted("group") + " BIGINT PRIMARY KEY, " +
        quoted("Where") + " VARCHAR(20), " + quoted("user") + " VARCHAR(20))");
    run("INSERT INTO " + quoted(name) + " VALUES (7, 'FAIL', 'me')");
    GuardSettings settings = bill_settings();
    settings.table = name;
    settings.id_field = "group";
    settings.status_field = "Where";
    settings.user_field = "user";
    const auto table = try_open(settings);
    ASSERT_TRUE(table) << table.error().message;
    const Result<> ensured = add_all(**table, 60s);
    ASSERT_TRUE(ensured) << ensured.error().message;
    EXPECT_EQ((*table)->mark_abnormal(RowId(7), "you", 5s).value().rows, 1);
    EXPECT_EQ((*table)->open_rows_of("you", 10, 5s).value(), std::vector<RowId>{RowId(7)});
    EXPECT_EQ((*table)->processing_successful(RowId(7), 5s).value(), 1);
    EXPECT_EQ(number("SELECT COUNT(*) FROM " + quoted(name) + " WHERE " + quoted("Where") +
                     " = 'SUCCESS' AND err_status = 2002"),
              1);
  }
}

TEST_P(GuardNames, ACaseThatIsNotTheTablesIsRefusedWithWhatThereIs) {
  GuardSettings settings = bill_settings();
  settings.table = "USER_BILL";
  EXPECT_FALSE(try_open(settings));
  settings = bill_settings();
  settings.status_field = "Status";
  settings.id_field = "no_such";
  const auto opened = try_open(settings);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("guard.status_field"));
  EXPECT_THAT(opened.error().message, HasSubstr("guard.id_field"));
  EXPECT_THAT(opened.error().message, HasSubstr("user_id"));
}

}  // namespace
}  // namespace recourse::tests
