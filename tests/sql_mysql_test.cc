#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/sql_mysql_support.h"

namespace recourse::sql::mysql {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr std::string_view kInsert = "INSERT INTO item (id, n, t, b) VALUES (?, ?, ?, ?)";

class MysqlSession : public MysqlTest {
 protected:
  struct Stored {
    std::optional<std::int64_t> n;
    std::optional<std::string> t;
    std::optional<std::string> b;
    friend bool operator==(const Stored&, const Stored&) = default;
  };

  std::vector<Stored> stored() {
    std::vector<Stored> rows;
    const Result<> read =
        connection_->query("SELECT n, t, b FROM item ORDER BY id", {}, [&](const Row& row) {
          Stored& it = rows.emplace_back();
          if (!row.is_null(0)) it.n = row.integer(0);
          if (!row.is_null(1)) it.t = row.bytes(1);
          if (!row.is_null(2)) it.b = row.bytes(2);
        });
    EXPECT_TRUE(read) << read.error().message;
    return rows;
  }

  // NULL, extremes, NUL bytes, long values between short ones, and no value at all.
  const std::string long_text_ = std::string(256 * 1024, 'x');
  const std::string all_bytes_ = [] {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    return bytes;
  }();
  const std::vector<Stored> awkward_{
      {std::nullopt, std::nullopt, std::nullopt},
      {std::numeric_limits<std::int64_t>::min(), "", ""},
      {std::numeric_limits<std::int64_t>::max(), "zażółć 🦀 e\u0301", "a\0b"s},
      {0, long_text_, std::string(300'000, '\0')},
      {-1, "short again", all_bytes_},
      {1, std::nullopt, "x"},
  };

  [[nodiscard]] std::vector<Value> values_of(const std::vector<Stored>& rows) const {
    std::vector<Value> values;
    std::int64_t id = 0;
    for (const Stored& row : rows) {
      values.emplace_back(id++);
      values.push_back(row.n ? Value(*row.n) : Value(Null{}));
      values.push_back(row.t ? Value(Text{*row.t}) : Value(Null{}));
      values.push_back(row.b ? Value(Bytes{*row.b}) : Value(Null{}));
    }
    return values;
  }
};

TEST_F(MysqlSession, KeepsEveryValueAsItWasInsertedOneByOne) {
  const std::vector<Value> values = values_of(awkward_);

  for (std::size_t i = 0; i < values.size(); i += 4) {
    EXPECT_EQ(connection_->execute(kInsert, std::span(values).subspan(i, 4)).value(), 1);
  }

  EXPECT_EQ(stored(), awkward_);
}

TEST_F(MysqlSession, KeepsEveryValueAsItWasInsertedInBulk) {
  const std::vector<Value> values = values_of(awkward_);

  EXPECT_EQ(connection_->execute_many(kInsert, 4, values).value(), 6);

  EXPECT_EQ(stored(), awkward_);
}

TEST_F(MysqlSession, TakesColumnsOfNothingButNullAndOfSeveralTypes) {
  const std::vector<Value> nulls{1, Null{}, Null{}, Null{}, 2, Null{}, Null{}, Null{}};
  const std::vector<Value> mixed{3, 7, Text{"a"}, Bytes{"b"}, 4, Text{"8"}, Bytes{"c"}, Text{"d"}};

  EXPECT_EQ(connection_->execute_many(kInsert, 4, nulls).value(), 2);
  EXPECT_EQ(connection_->execute_many(kInsert, 4, mixed).value(), 2);
  EXPECT_EQ(connection_->execute_many(kInsert, 4, {}).value(), 0);

  EXPECT_EQ(stored(),
            (std::vector<Stored>{{{}, {}, {}}, {{}, {}, {}}, {7, "a", "b"}, {8, "c", "d"}}));
}

TEST_F(MysqlSession, TellsBinaryKeysApartThatDifferInCaseOrTrailingSpace) {
  run("CREATE OR REPLACE TABLE item (id VARBINARY(100) NOT NULL PRIMARY KEY)");
  const std::vector<std::string> keys{"key", "Key", "key ", "k\u00e9y", "key\0"s};

  for (const std::string& key : keys) {
    const Value value = Bytes{key};
    EXPECT_EQ(connection_->execute("INSERT INTO item (id) VALUES (?)", {&value, 1}).value(), 1);
  }

  for (const std::string& key : keys) {
    const Value value = Text{key};
    EXPECT_EQ(number(*connection_, "SELECT COUNT(*) FROM item WHERE id = ?", {&value, 1}), 1);
  }
}

TEST_F(MysqlSession, ReadsSumsAndSmallIntegersAsNumbers) {
  const std::vector<Value> rows{1, 40, Null{}, Null{}, 2, 2, Null{}, Null{}};
  ASSERT_TRUE(connection_->execute_many(kInsert, 4, rows));

  EXPECT_EQ(number(*connection_, "SELECT SUM(n) FROM item"), 42);
  EXPECT_EQ(number(*connection_, "SELECT CAST(1 AS SIGNED) = 1 FROM item"), 1);
}

TEST_F(MysqlSession, CountsRowsThatWereFoundAndNotOnlyThoseThatChanged) {
  const std::vector<Value> rows{1, 5, Null{}, Null{}, 2, 6, Null{}, Null{}};
  ASSERT_TRUE(connection_->execute_many(kInsert, 4, rows));

  const std::vector<Value> same{5, 1};
  const std::vector<Value> several{5, 1, 9, 2, 9, 3};  // unchanged, changed, not there

  EXPECT_EQ(connection_->execute("UPDATE item SET n = ? WHERE id = ?", same).value(), 1);
  EXPECT_EQ(connection_->execute_many("UPDATE item SET n = ? WHERE id = ?", 2, several).value(), 2);
  const std::vector<Value> ids{1, 2, 3};
  EXPECT_EQ(connection_->execute_many("DELETE FROM item WHERE id = ?", 1, ids).value(), 2);
}

TEST_F(MysqlSession, UpsertsInBulk) {
  const std::vector<Value> rows{1, 5, 1, 7, 2, 1};
  constexpr std::string_view kUpsert =
      "INSERT INTO item (id, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + VALUES(n)";

  ASSERT_TRUE(connection_->execute_many(kUpsert, 2, rows));

  EXPECT_EQ(number(*connection_, "SELECT n FROM item WHERE id = 1"), 12);
}

TEST_F(MysqlSession, TakesOneByOneWhatTheServerTakesOnlySo) {
  const std::vector<Value> values{1, 2};

  EXPECT_TRUE(connection_->execute_many("SELECT id FROM item WHERE id = ?", 1, values));
}

TEST_F(MysqlSession, SplitsWhatIsLongerThanAMessageAndRefusesARowThatIs) {
  const std::string megabytes(3 * 1024 * 1024, 'b');
  std::vector<Value> values;
  for (std::int64_t id = 0; id < 8; ++id) {
    values.insert(values.end(), {Value(id), Value(Null{}), Value(Null{}), Bytes{megabytes}});
  }
  const std::string too_long(connection_->server().message_max, 'b');
  const std::vector<Value> never{100, Null{}, Null{}, Bytes{too_long}};

  EXPECT_EQ(connection_->execute_many(kInsert, 4, values).value(), 8);
  const Result<std::int64_t> refused = connection_->execute(kInsert, never);

  EXPECT_EQ(number(*connection_, "SELECT SUM(LENGTH(b)) FROM item"), 8 * 3 * 1024 * 1024);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(connection_->usable());
}

TEST_F(MysqlSession, CommitsAndRollsBack) {
  const std::unique_ptr<Session> other = open();
  const std::vector<Value> one{1, 1, Null{}, Null{}};

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->execute(kInsert, one));
  EXPECT_EQ(number(*other, "SELECT COUNT(*) FROM item"), 0);
  connection_->rollback();
  EXPECT_EQ(number(*connection_, "SELECT COUNT(*) FROM item"), 0);

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->execute(kInsert, one));
  ASSERT_TRUE(connection_->commit());
  EXPECT_EQ(number(*other, "SELECT COUNT(*) FROM item"), 1);

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->commit());
  connection_->rollback();
}

TEST_F(MysqlSession, LetsNothingOfAFailedTransactionStay) {
  const std::vector<Value> one{1, 1, Null{}, Null{}};
  const std::vector<Value> two{2, 1, Null{}, Null{}};
  const std::vector<Value> two_and_one{2, 1, Null{}, Null{}, 1, 1, Null{}, Null{}};
  ASSERT_TRUE(connection_->execute(kInsert, one));

  ASSERT_TRUE(connection_->begin());
  EXPECT_EQ(connection_->execute_many(kInsert, 4, two_and_one).error().code, ErrorCode::kConflict);
  EXPECT_EQ(connection_->execute(kInsert, two).error().code, ErrorCode::kConflict);
  EXPECT_EQ(connection_->commit().error().code, ErrorCode::kConflict);
  connection_->rollback();

  EXPECT_TRUE(connection_->usable());
  EXPECT_EQ(number(*connection_, "SELECT COUNT(*) FROM item"), 1);
  ASSERT_TRUE(connection_->begin());
  EXPECT_EQ(connection_->execute(kInsert, two).value(), 1);
  EXPECT_TRUE(connection_->commit());
}

TEST_F(MysqlSession, RefusesWhatCannotBeStoredInsteadOfCuttingIt) {
  run("CREATE OR REPLACE TABLE item (id TINYINT PRIMARY KEY, t VARCHAR(3))");
  const std::vector<Value> large{1'000, Text{"a"}};
  const std::vector<Value> long_text{1, Text{"abcd"}};

  for (const auto& values : {large, long_text}) {
    EXPECT_EQ(connection_->execute("INSERT INTO item VALUES (?, ?)", values).error().code,
              ErrorCode::kInvalid);
  }
  EXPECT_EQ(connection_->execute("INSERT INTO item VALUEZ (1)", {}).error().code,
            ErrorCode::kInvalid);
}

TEST_F(MysqlSession, PreparesMoreTextsThanItKeeps) {
  for (int i = 0; i < 450; ++i) {
    ASSERT_EQ(number(*connection_, fmt::format("SELECT COUNT(*) + {} FROM item", i)), i);
  }
  EXPECT_EQ(number(*connection_, "SELECT COUNT(*) + 0 FROM item"), 0);
}

TEST_F(MysqlSession, RunsReadCommittedInUtcAndSaysWhatAnswers) {
  EXPECT_EQ(number(*connection_,
                   "SELECT @@tx_isolation = 'READ-COMMITTED' AND "
                   "@@time_zone = '+00:00'"),
            1);
  EXPECT_TRUE(connection_->server().is_mariadb);
  EXPECT_TRUE(connection_->server().has_bulk);
  EXPECT_FALSE(connection_->server().is_galera);
  EXPECT_GE(connection_->server().message_max, 1'048'576U);
}

TEST_F(MysqlSession, IsOpenedByWhoKnowsOnlyConnections) {
  const auto open_any = [this]() -> Result<std::unique_ptr<Connection>> {
    return connect(url_, in(30s));
  };

  EXPECT_TRUE(open_any().value()->usable());
}

constexpr std::size_t kWideRows = 500;
constexpr std::size_t kWideColumns = 25;

std::vector<Value> wide_rows(std::int64_t first_id) {
  std::vector<Value> values;
  for (std::size_t row = 0; row < kWideRows; ++row) {
    const std::int64_t id = first_id + static_cast<std::int64_t>(row);
    values.emplace_back(id);
    for (std::size_t i = 1; i < kWideColumns; ++i) {
      values.push_back(i % 2 == 0 ? Value(id) : Value(Text{"twenty bytes of text"}));
    }
  }
  return values;
}

template <class Work>
std::chrono::microseconds time_of(Connection& connection, Work work) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(connection.begin());
  work();
  EXPECT_TRUE(connection.commit());
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

TEST_F(MysqlSession, InsertsFasterInBulk) {
  std::string create = "CREATE OR REPLACE TABLE item (c0 BIGINT PRIMARY KEY";
  std::string insert = "INSERT INTO item VALUES (?";
  for (std::size_t i = 1; i < kWideColumns; ++i) {
    create += fmt::format(", c{} {}", i, i % 2 == 0 ? "BIGINT" : "VARBINARY(100)");
    insert += ", ?";
  }
  run(create + ")");
  const std::string text = insert + ")";
  std::chrono::microseconds bulk = 1h;
  std::chrono::microseconds loop = 1h;

  for (std::int64_t round = 0; round < 3; ++round) {
    const std::vector<Value> rows = wide_rows(round * 1'000);
    bulk = std::min(bulk, time_of(*connection_, [&] {
                      EXPECT_EQ(connection_->execute_many(text, kWideColumns, rows).value(), 500);
                    }));
    const std::vector<Value> more = wide_rows(round * 1'000 + 500);
    loop = std::min(
        loop, time_of(*connection_, [&] {
          for (std::size_t i = 0; i < more.size(); i += kWideColumns) {
            EXPECT_TRUE(connection_->execute(text, std::span(more).subspan(i, kWideColumns)));
          }
        }));
  }

  fmt::print("500 rows x 25 columns: bulk {} us, loop {} us\n", bulk.count(), loop.count());
  EXPECT_LT(bulk, loop);
}

}  // namespace
}  // namespace recourse::sql::mysql
