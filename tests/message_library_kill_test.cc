// The same for the library's consumer, which runs handlers before there is a record: nothing is
// lost, and what shares a transaction with its mark is done exactly once. I12, MSG-1, MSG-12
#include "sql/sqlite/connection.h"
#include "tests/message_kill_fixture.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

// The brokers' own part is the server's too: in the short form one of them is enough.
std::vector<const char*> brokers() {
  if (!is_full()) return {"Redis"};
  return {"RabbitmqClassic", "Redis", "KafkaMock"};
}

class LibraryKilled : public MessageKilled {
 protected:
  std::unique_ptr<sql::Connection> database() {
    auto opened = sql::sqlite::open(path("store.db"), sql::sqlite::Access::kWrite).value();
    opened->set_deadline(in(30s));
    return opened;
  }
  std::int64_t count(const char* what) {
    std::int64_t count = -1;
    const std::string statement = std::string("SELECT ") + what + " FROM effect";
    const Result<> asked =
        database()->query(statement, {}, [&](const sql::Row& row) { count = row.integer(0); });
    EXPECT_TRUE(asked) << asked.error().message;
    return count;
  }
};
INSTANTIATE_TEST_SUITE_P(Brokers, LibraryKilled, ::testing::ValuesIn(brokers()),
                         [](const auto& one) { return one.param; });

TEST_P(LibraryKilled, EveryMessageIsDoneOnceOrWithAPerson) {
  consume_all({MESSAGE_LIBRARY_NODE, "inline"});

  check_records(Recorded::kWhatFailed);
  report(check_effects());
}

TEST_P(LibraryKilled, WhatSharesTheTransactionOfItsMarkIsDoneExactlyOnce) {
  ASSERT_TRUE(database()->run("CREATE TABLE effect (message TEXT NOT NULL)"));

  consume_all({MESSAGE_LIBRARY_NODE, "transaction"});

  check_records(Recorded::kWhatFailed);
  EXPECT_EQ(count("count(DISTINCT message)"), static_cast<std::int64_t>(wanted()));
  EXPECT_EQ(count("count(*)"), static_cast<std::int64_t>(wanted())) << "none was done twice";
  report(0);
}

}  // namespace
}  // namespace recourse::tests
