// How the databases run what the stores send: every statement of every verb is recorded as the
// connection sees it, and explained on an empty table that nobody has analysed, with a few rows in
// it, with 20,000, and with statistics old and new. What locks or writes goes by its index always:
// a scan of five rows waits for all five, and a plan made for an empty table is kept when it is
// full. What only reads may look through a table that the database believes to be empty.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "store/contract/contract.h"
#include "tests/support/every_verb.h"
#include "tests/support/fresh_database.h"
#include "tests/support/plans.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using store::contract::must;

struct Hot {
  std::string_view what;
  // Found in its text; where a database has a statement of its own, that one's.
  std::string_view text;
  std::string_view postgres_text;
  std::string_view table;
  std::string_view index;
};

constexpr std::string_view kTask = "recourse_task";
constexpr std::string_view kTaskId = "recourse_task_pkey";
constexpr std::string_view kDue = "recourse_task_due";
constexpr std::string_view kOwner = "recourse_task_owner";

constexpr auto kHot = std::to_array<Hot>({
    {"the claim's probe", "ORDER BY available_at LIMIT ?", "AS q (kind, most, alone)", kTask, kDue},
    {"the claim's write", "lease_end = ? WHERE id IN", "picked AS MATERIALIZED", kTask, kTaskId},
    {"the claim by ids", "AND available_at + 0 <= ? ORDER BY id", "AS wanted (id)", kTask, kTaskId},
    {"the candidates", "SELECT id, tenant, priority, available_at", "", kTask, kDue},
    {"moves", "UPDATE recourse_task SET deadline_at", "UPDATE recourse_task t SET", kTask, kTaskId},
    {"finishes", "DELETE FROM recourse_task WHERE id IN", "DELETE FROM recourse_task t", kTask,
     kTaskId},
    {"the lock by ids", "WHERE id IN (?) ORDER BY id", "", kTask, kTaskId},
    {"starts", "SET start_mark = 2", "", kTask, kTaskId},
    {"renewals", "SET lease_end = ?", "", kTask, kTaskId},
    {"the sweep over owners", "SELECT owner FROM recourse_task", "", kTask, kOwner},
    {"the dead owner's tasks", "WHERE owner = ? LIMIT ?", "", kTask, kOwner},
    {"requests", "requested IS NOT NULL", "", kTask, kOwner},
    {"what a node holds", "WHERE owner = ? AND id > ?", "", kTask, kOwner},
    {"the parked list", "parked = ? AND id < ?", "", kTask, "recourse_task_parked"},
    {"the newest", "FROM recourse_task WHERE id < ?", "", kTask, kTaskId},
    {"the newest finished", "FROM recourse_archive WHERE id < ?", "", "recourse_archive",
     "recourse_archive_pkey"},
    {"the purge of what expired", "WHERE expires_at <= ?", "", "recourse_archive",
     "recourse_archive_expiry"},
    {"the archive by id", "FROM recourse_archive WHERE id IN", "", "recourse_archive",
     "recourse_archive_pkey"},
    {"the notes' numbers", "SELECT task_id, fence, number FROM recourse_note", "", "recourse_note",
     "recourse_note_pkey"},
    {"the oldest notes", "DELETE FROM recourse_note WHERE task_id = ?", "", "recourse_note",
     "recourse_note_pkey"},
    {"the notes of a task", "said FROM recourse_note", "", "recourse_note", "recourse_note_pkey"},
    {"reminders that are due", "WHERE remind_at <= ?", "", "recourse_case", "recourse_case_due"},
    {"cases by task", "FROM recourse_case WHERE task_id IN", "", "recourse_case",
     "recourse_case_pkey"},
    {"marks by key", "SELECT id, task_id FROM recourse_inbox", "JOIN recourse_inbox i ON",
     "recourse_inbox", "recourse_inbox_pkey"},
    {"the sweep over marks", "FROM recourse_inbox WHERE expires_at <= ?", "", "recourse_inbox",
     "recourse_inbox_end"},
    {"marks that go", "DELETE FROM recourse_inbox WHERE id", "DELETE FROM recourse_inbox i",
     "recourse_inbox", "recourse_inbox_pkey"},
    {"the search key", "FROM recourse_search JOIN recourse_task", "", "recourse_search",
     "recourse_search_pkey"},
    {"the search key's task", "FROM recourse_search JOIN recourse_task", "", kTask, kTaskId},
});

// A person's rare order: it walks over the archive in the order of ids, because the archive has
// room for one index and retention needs that.
bool may_walk(const Statement& statement) {
  return statement.text.find("FROM recourse_archive WHERE state = ?") != std::string::npos;
}

// It neither locks a row nor writes one.
bool only_reads(const Statement& statement) {
  return statement.text.starts_with("SELECT") &&
         statement.text.find("FOR UPDATE") == std::string::npos;
}

bool only_writes(const Statement& statement) {
  return statement.text.starts_with("INSERT") || statement.text.starts_with("SAVEPOINT") ||
         statement.text.starts_with("RELEASE") || statement.text.starts_with("ROLLBACK");
}

class StorePlans : public testing::TestWithParam<Database> {
 protected:
  void SetUp() override {
    const std::unique_ptr<FreshDatabase> scratch = fresh_database(GetParam());
    scratch->open().reset();
    run_every_verb(*scratch->open_recorded(recorder_));
    database_ = fresh_database(GetParam());
    database_->open().reset();
    connection_ = database_->connect();
  }

  void TearDown() override { connection_.reset(); }

  enum class Believed : std::uint8_t { kEmpty, kFilled };

  void expect_all_by_index(Believed believed, std::string_view when) {
    for (const Statement& statement : recorder_.statements()) {
      if (only_writes(statement)) continue;
      if (believed == Believed::kEmpty && only_reads(statement)) continue;
      expect_by_index(statement, explain(GetParam(), *connection_, statement), when);
      if (GetParam() != Database::kPostgres) continue;
      expect_by_index(statement, explain_for_any_values(*connection_, statement), when);
    }
  }

  void fill(std::size_t rows) {
    const TimePoint now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const BulkTasks tasks{.count = rows};
    const Result<> waiting = add_waiting(GetParam(), *connection_, tasks, now + 1h);
    ASSERT_TRUE(waiting) << waiting.error().message;
    const Result<> finished = add_finished(GetParam(), *connection_, tasks, now + 1h);
    ASSERT_TRUE(finished) << finished.error().message;
  }

  void empty() {
    for (const char* table : {"recourse_task", "recourse_archive"}) {
      ASSERT_TRUE(connection_->run(std::string("DELETE FROM ") + table));
    }
  }

  void gather_statistics() {
    const bool by_table = GetParam() == Database::kMariadb;
    ASSERT_TRUE(
        connection_->run(by_table ? "ANALYZE TABLE recourse_task, recourse_archive" : "ANALYZE"));
  }

  [[nodiscard]] const std::vector<Statement>& statements() const { return recorder_.statements(); }

  [[nodiscard]] bool is(const Statement& statement, const Hot& hot) const {
    const bool own = GetParam() == Database::kPostgres && !hot.postgres_text.empty();
    const std::string_view text = own ? hot.postgres_text : hot.text;
    return statement.text.find(text) != std::string::npos &&
           statement.text.find(hot.table) != std::string::npos;
  }

 private:
  void expect_by_index(const Statement& statement, const Plan& plan, std::string_view when) {
    for (const Access& access : plan.accesses) {
      const bool matters = access.table == "recourse_task" || access.table == "recourse_archive" ||
                           access.table == "recourse_search" || access.table == "recourse_note" ||
                           access.table == "recourse_case" || access.table == "recourse_inbox";
      if (!matters || may_walk(statement)) continue;
      EXPECT_FALSE(access.is_scan) << when << ", this reads all of " << access.table << ":\n"
                                   << statement.text << "\n\n"
                                   << plan.text;
    }
    for (const Hot& hot : kHot) {
      if (!is(statement, hot)) continue;
      // Of a table without a row that matches, MariaDB knows the answer before it has a plan.
      if (plan.text.find("const table") != std::string::npos) continue;
      const bool as_intended = std::ranges::any_of(plan.accesses, [&](const Access& access) {
        return access.table == hot.table && access.index == hot.index;
      });
      EXPECT_TRUE(as_intended) << when << ", " << hot.what << " should use " << hot.index << ":\n"
                               << statement.text << "\n\n"
                               << plan.text;
    }
  }

  Recorder recorder_;
  std::unique_ptr<FreshDatabase> database_;
  std::unique_ptr<sql::Connection> connection_;
};

TEST_P(StorePlans, AreRecordedForEveryHotStatement) {
  for (const Hot& hot : kHot) {
    EXPECT_TRUE(std::ranges::any_of(statements(),
                                    [&](const Statement& statement) { return is(statement, hot); }))
        << "nobody sent " << hot.what;
  }
}

TEST_P(StorePlans, UseTheIndexOnAnEmptyTableThatNobodyHasAnalysed) {
  expect_all_by_index(Believed::kEmpty, "on an empty table");
}

TEST_P(StorePlans, UseTheIndexWithAHandfulOfRows) {
  fill(5);
  expect_all_by_index(Believed::kEmpty, "with five rows");
}

TEST_P(StorePlans, UseTheIndexWithManyRowsBeforeAndAfterTheyAreAnalysed) {
  fill(20'000);
  expect_all_by_index(Believed::kFilled, "with 20,000 rows");
  gather_statistics();
  expect_all_by_index(Believed::kFilled, "with 20,000 rows and statistics");
}

TEST_P(StorePlans, UseTheIndexWhereStatisticsSayThatTheTableIsEmpty) {
  gather_statistics();
  expect_all_by_index(Believed::kEmpty, "analysed while empty");
  fill(20'000);
  empty();
  gather_statistics();
  expect_all_by_index(Believed::kEmpty, "analysed after it was drained");
  fill(20'000);
  expect_all_by_index(Believed::kEmpty, "drained, analysed and full again");
}

INSTANTIATE_TEST_SUITE_P(, StorePlans,
                         testing::Values(Database::kPostgres, Database::kMariadb,
                                         Database::kSqlite),
                         database_name);

}  // namespace
}  // namespace recourse::tests
