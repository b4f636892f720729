// What sql::postgres promises, on a real server: values, pipelines and statements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <utility>

#include "sql/postgres/arrays.h"
#include "tests/sql_postgres_fixture.h"

namespace recourse::tests {
namespace {

using namespace std::string_view_literals;
using sql::Bytes;
using sql::Null;
using sql::Row;
using sql::Text;
using sql::Value;
using sql::postgres::ArrayParam;
using sql::postgres::Element;
using sql::postgres::Param;
using testing::ElementsAre;

TEST_F(PostgresTest, KeepsNumbersToTheirExtremes) {
  for (const std::int64_t each : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                  std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(number("SELECT ?::bigint", std::array<Value, 1>{each}), each);
  }
}

TEST_F(PostgresTest, ReadsNumbersOfEveryWidth) {
  const Result<> done =
      connection_->query("SELECT 7::smallint, -7, 7::bigint, true, false", {}, [](const Row& row) {
        EXPECT_EQ(row.integer(0), 7);
        EXPECT_EQ(row.integer(1), -7);
        EXPECT_EQ(row.integer(2), 7);
        EXPECT_EQ(row.integer(3), 1);
        EXPECT_EQ(row.integer(4), 0);
      });

  ASSERT_TRUE(done) << done.error().message;
}

TEST_F(PostgresTest, KeepsBytesAndTextsAsTheyAre) {
  const std::string big(256 * 1024, '\0');
  const std::array<Value, 5> values{Bytes{"a\0b\xff"sv}, Bytes{big}, Bytes{}, Text{},
                                    Text{"grüße, 世界 🚀 'quoted' ? $1"}};
  int rows = 0;

  const Result<> done = connection_->query("SELECT ?, ?, ?, ?, ?", values, [&](const Row& row) {
    ++rows;
    EXPECT_EQ(row.bytes(0), "a\0b\xff"sv);
    EXPECT_EQ(row.bytes(1), big);
    EXPECT_EQ(row.bytes(2), "");
    EXPECT_FALSE(row.is_null(2));
    EXPECT_EQ(row.bytes(3), "");
    EXPECT_FALSE(row.is_null(3));
    EXPECT_EQ(row.bytes(4), "grüße, 世界 🚀 'quoted' ? $1");
  });

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(rows, 1);
}

TEST_F(PostgresTest, BindsNullWhereTheNextRowHasAValue) {
  const std::array<Value, 6> values{std::int64_t{1}, Null{},          std::int64_t{2},
                                    Text{"two"},     std::int64_t{3}, Null{}};

  const auto inserted = connection_->execute_many("INSERT INTO item VALUES (?, ?)", 2, values);

  ASSERT_TRUE(inserted) << inserted.error().message;
  EXPECT_EQ(*inserted, 3);
  EXPECT_EQ(number("SELECT count(*) FROM item WHERE name IS NULL"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM item WHERE name = 'two'"), 1);
}

TEST_F(PostgresTest, BindsANumberToAColumnThatANullMadeNarrow) {
  ASSERT_TRUE(connection_->run("CREATE TABLE narrow (n smallint)"));

  for (const Value& each : {Value(Null{}), Value(std::int64_t{5})}) {
    const auto inserted = connection_->execute("INSERT INTO narrow VALUES (?)", std::array{each});
    ASSERT_TRUE(inserted) << inserted.error().message;
  }

  EXPECT_EQ(number("SELECT sum(n) FROM narrow"), 5);
}

TEST_F(PostgresTest, CountsRowsThatAnUpdateFoundButDidNotChange) {
  ASSERT_TRUE(insert(*connection_, 1));

  EXPECT_EQ(connection_->execute("UPDATE item SET name = NULL WHERE id = 1", {}).value(), 1);
  EXPECT_EQ(connection_->execute("UPDATE item SET name = NULL WHERE id = 2", {}).value(), 0);
  EXPECT_EQ(connection_->execute("DELETE FROM item", {}).value(), 1);
}

TEST_F(PostgresTest, RunsWhatIsQueuedInItsOrderAndBeforeTheNextStatement) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert_later(*connection_, 1));
  ASSERT_TRUE(connection_->execute_later("UPDATE item SET id = id * 10", 0, {}));
  ASSERT_TRUE(connection_->execute_later("UPDATE item SET id = id + 1", 0, {}));

  EXPECT_EQ(number("SELECT id FROM item"), 11);
  ASSERT_TRUE(connection_->commit());
}

TEST_F(PostgresTest, CommitsWhatIsStillQueued) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert_later(*connection_, 1));
  ASSERT_TRUE(insert_later(*connection_, 2));
  ASSERT_TRUE(connection_->commit());

  EXPECT_EQ(number("SELECT count(*) FROM item"), 2);
}

TEST_F(PostgresTest, NeedsNoServerForATransactionWithoutStatements) {
  ASSERT_TRUE(connection_->begin());
  EXPECT_TRUE(connection_->commit());

  ASSERT_TRUE(connection_->begin());
  connection_->rollback();
  connection_->rollback();

  EXPECT_EQ(number("SELECT 5"), 5);
}

TEST_F(PostgresTest, RunsQueuedStatementsAtOnceOutsideOfATransaction) {
  ASSERT_TRUE(insert_later(*connection_, 1));

  EXPECT_EQ(number("SELECT count(*) FROM item"), 1);
  EXPECT_FALSE(insert_later(*connection_, 1));
}

// Fifty megabytes each way: a side that only wrote would wait for the other for ever.
TEST_F(PostgresTest, SurvivesFullBuffersInBothDirections) {
  const std::string big(1'000'000, 'x');
  const std::vector<Value> values(50, Text{big});

  const auto echoed = connection_->execute_many("SELECT ?::text", 1, values);

  ASSERT_TRUE(echoed) << echoed.error().message;
  EXPECT_EQ(*echoed, 50);
}

TEST_F(PostgresTest, PreparesAStatementOnce) {
  for (std::int64_t id = 0; id < 10; ++id) ASSERT_TRUE(insert(*connection_, id));

  EXPECT_EQ(number("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'"),
            1);
}

TEST_F(PostgresTest, GoesOnUnpreparedWhenThereAreTooManyStatements) {
  for (int i = 0; i < 600; ++i) {
    const std::string query = "SELECT ?::bigint + " + std::to_string(i);
    ASSERT_EQ(number(query, std::array<Value, 1>{std::int64_t{1}}), i + 1);
  }
}

TEST_F(PostgresTest, UnnestsWholeColumns) {
  ArrayParam ids(Element::kInt8);
  ArrayParam names(Element::kText);
  ArrayParam payloads(Element::kBytea);
  for (std::int64_t id = 1; id <= 3; ++id) ids.add(id);
  names.add("one"sv);
  names.add_null();
  names.add(""sv);
  for (int i = 0; i < 3; ++i) payloads.add("\0\xff"sv);
  const std::array<Param, 3> params{std::move(ids).finish(), std::move(names).finish(),
                                    std::move(payloads).finish()};
  std::vector<std::optional<std::string>> read;

  const Result<> done = connection_->query_with(
      "SELECT i, n, p FROM unnest(?, ?, ?) WITH ORDINALITY AS t(i, n, p, o) ORDER BY o", params,
      [&](const Row& row) {
        EXPECT_EQ(row.integer(0), static_cast<std::int64_t>(read.size()) + 1);
        EXPECT_EQ(row.bytes(2), "\0\xff"sv);
        read.push_back(row.is_null(1) ? std::nullopt : std::optional<std::string>(row.bytes(1)));
      });

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(read, ElementsAre("one", std::nullopt, ""));
}

TEST_F(PostgresTest, QueuesArraysAndTakesEmptyOnes) {
  ArrayParam ids(Element::kInt8);
  for (std::int64_t id = 0; id < 500; ++id) ids.add(id);
  const std::array<Param, 1> full{std::move(ids).finish()};
  const std::array<Param, 1> empty{ArrayParam(Element::kInt8).finish()};
  constexpr auto kInsert = "INSERT INTO item (id) SELECT * FROM unnest(?)"sv;

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->execute_later_with(kInsert, full));
  ASSERT_TRUE(connection_->execute_later_with(kInsert, empty));
  ASSERT_TRUE(connection_->commit());

  EXPECT_EQ(number("SELECT count(*) FROM item"), 500);
}

TEST_F(PostgresTest, RunsScriptsBetweenTransactions) {
  ASSERT_TRUE(connection_->run("CREATE TABLE a (); CREATE TABLE b ();"));
  EXPECT_FALSE(connection_->run("CREATE TABLE c (); SELECT 1/0;"));

  EXPECT_EQ(number("SELECT count(*) FROM pg_tables WHERE tablename IN ('a', 'b', 'c')"), 2);
}

TEST_F(PostgresTest, PutsTheSessionInOrder) {
  const std::array<std::pair<std::string_view, std::string_view>, 8> expected{{
      {"client_encoding", "UTF8"},
      {"TimeZone", "UTC"},
      {"transaction_isolation", "read committed"},
      {"statement_timeout", "5min"},
      {"enable_seqscan", "off"},
      {"enable_hashjoin", "off"},
      {"jit", "off"},
      {"application_name", "recourse"},
  }};

  for (const auto& [name, value] : expected) {
    const Result<> done =
        connection_->query("SELECT current_setting(?)", std::array<Value, 1>{Text{name}},
                           [&](const Row& row) { EXPECT_EQ(row.bytes(0), value) << name; });
    ASSERT_TRUE(done) << done.error().message;
  }
}

}  // namespace
}  // namespace recourse::tests
