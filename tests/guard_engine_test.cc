// What the engine and the application do while rows are being healed.
#include <condition_variable>
#include <set>

#include "tests/guard_fixture.h"

namespace recourse::tests {
namespace {

// A door that a test opens.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_open_; });
  }
  bool wait_for(int callers) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return waiting_ >= callers; });
  }
  int callers() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

class GuardEngine : public GuardOnStore {
 protected:
  ~GuardEngine() override { gate_.open(); }
  // Rows 1 to `count`, all waiting for their first retry, which is due.
  std::shared_ptr<Bills> begin_many(int count, const GuardOptions& options) {
    app_.execute(bill_table());
    app_.begin();
    for (int i = 1; i <= count; ++i) {
      app_.execute("INSERT INTO user_bill VALUES (?, 'u-1', 'FAIL', 10)", {std::int64_t{i}});
    }
    app_.commit();
    return add(options);
  }
  void mark_all() { app_.execute("UPDATE user_bill SET err_status = 4000"); }
  std::int64_t in(int err_status) {
    return app_.number("SELECT COUNT(*) FROM user_bill WHERE err_status = " +
                       std::to_string(err_status));
  }

  Gate gate_;
};
INSTANTIATE_TEST_SUITE_P(Stores, GuardEngine, kGuardStores, guard_store_name);

// GUARD-8: user code that hangs past its time keeps its row, until its window and the grace after
// it are over and a scan gives it to a person; what it says then changes nothing.
TEST_P(GuardEngine, AHungRowIsRunByNobodyElseAndEndsWithAPerson) {
  GuardOptions options = quick();
  options.min_interval = 1s;
  options.attempt_timeout = 1s;
  options.timeout_window = 2s;
  auto bills = begin(options);
  std::atomic<bool> has_returned = false;
  bills->on_handle = [&](const RowId&) {
    gate_.pass();
    return has_returned = true;
  };
  bills->on_check = [&](const RowId&) { return has_returned.load(); };
  start();
  bills->mark_abnormal(1).value();
  ASSERT_TRUE(gate_.wait_for(1));

  ASSERT_TRUE(reaches(4001)) << log_.all();
  EXPECT_EQ(gate_.callers(), 1) << "nobody ran it a second time";
  EXPECT_TRUE(eventually([&] { return log_.count("guard_row_not_claimed") >= 1; }))
      << "who tried was told why (GUARD-9)";
  gate_.open();

  ASSERT_TRUE(eventually([&] { return bills->figures().lost == 1; })) << log_.all();
  EXPECT_EQ(number("err_status"), 4001);
  EXPECT_EQ(status(), "FAIL");
}

// GUARD-11: a scan that finds the window over has just handed the row to the engine.
TEST_P(GuardEngine, TheLastRetryOfARowPastItsWindowCounts) {
  auto bills = begin(quick());
  std::atomic<bool> is_well = false;
  bills->on_handle = [&](const RowId&) {
    const auto scans = bills->figures().scans;
    EXPECT_TRUE(eventually([&] { return bills->figures().scans >= scans + 2; }));
    return is_well = true;
  };
  bills->on_check = [&](const RowId&) { return is_well.load(); };
  start();

  app_.execute("UPDATE user_bill SET err_status = 4000, err_timeout = 0 WHERE id = 1");

  ASSERT_TRUE(reaches(2001)) << log_.all();
  EXPECT_EQ(status(), "SUCCESS");
  EXPECT_EQ(bills->figures().lost, 0U);
}

// GUARD-16: success that the application writes meanwhile stays, whatever the handler says.
TEST_P(GuardEngine, TheApplicationsSuccessIsNeverOverwritten) {
  auto bills = begin(quick());
  bills->on_handle = [&](const RowId&) {
    gate_.pass();
    return false;
  };
  start();
  fails(*bills);
  ASSERT_TRUE(gate_.wait_for(1));

  app_.execute("UPDATE user_bill SET status = 'SUCCESS' WHERE id = 1");
  gate_.open();

  ASSERT_TRUE(reaches(2001)) << log_.all();
  EXPECT_EQ(status(), "SUCCESS");
  EXPECT_EQ(bills->handled(), 1);
}

// GUARD-13: and so does a person's.
TEST_P(GuardEngine, APersonsSuccessDuringARunStays) {
  auto bills = begin(quick());
  bills->on_handle = [&](const RowId&) {
    gate_.pass();
    return false;
  };
  start();
  fails(*bills);
  ASSERT_TRUE(gate_.wait_for(1));

  bills->processing_successful(1).value();
  gate_.open();

  ASSERT_TRUE(eventually([&] { return bills->figures().lost == 1; })) << log_.all();
  EXPECT_EQ(number("err_status"), 2002);
  EXPECT_EQ(status(), "SUCCESS");
}

TEST_P(GuardEngine, ManyRowsGoThroughTheLaneEachOnce) {
  GuardOptions options = quick();
  options.kind.concurrency = 8;
  auto bills = begin_many(200, options);
  std::mutex mutex;
  std::set<std::string> paid;
  bills->on_check = [&](const RowId& id) {
    const std::lock_guard lock(mutex);
    return paid.contains(to_string(id));
  };
  bills->on_handle = [&](const RowId& id) {
    const std::lock_guard lock(mutex);
    return paid.insert(to_string(id)).second;
  };
  start();

  mark_all();

  EXPECT_TRUE(eventually([&] { return in(2001) == 200; }, 30s)) << in(2001);
  EXPECT_EQ(bills->handled(), 200);
}

// The breaker is the engine's: rows wait while the downstream is sick, and use up no retry.
TEST_P(GuardEngine, RowsWaitWhileTheBreakerIsOpen) {
  GuardOptions options = quick();
  options.max_retries = 3;
  options.min_interval = 2s;
  options.kind.concurrency = 1;
  options.kind.breaker = true;
  options.kind.breaker_calls = 10;
  options.kind.breaker_min_calls = 4;
  options.kind.breaker_open_for = 500ms;
  options.kind.backoff_base = 100ms;
  options.kind.backoff_min = 50ms;
  options.kind.backoff_max = 200ms;
  auto bills = begin_many(30, options);
  std::atomic<bool> is_well = false;
  bills->on_check = [&](const RowId&) { return is_well.load(); };
  start();
  mark_all();
  ASSERT_TRUE(eventually([&] { return log_.count("breaker_changed") >= 1; })) << log_.all();

  const auto runs = bills->figures().runs;
  is_well = true;

  EXPECT_LT(runs, 20U) << "not all were tried";
  EXPECT_TRUE(eventually([&] { return in(2001) == 30; }, 30s)) << in(2001);
}

// GUARD-9: a row that is due may wait for something of the engine's.
TEST_P(GuardEngine, ItIsExplainedThatTheKindIsPaused) {
  auto bills = begin(quick());
  // Before the node joins, which acts by it from its first moment.
  engine_.pause_kind("guard.user_bill", "alice").value();
  start();

  app_.execute("UPDATE user_bill SET err_status = 4000");

  EXPECT_TRUE(eventually([&] {
    const auto found = bills->explain(1).value();
    return found.due && found.why.find("resumes the kind guard.user_bill") != std::string::npos;
  })) << bills->explain(1).value().why;
  bills->on_check = [](const RowId&) { return true; };
  engine_.resume_kind("guard.user_bill", "alice").value();
  EXPECT_TRUE(reaches(2001)) << log_.all();
}

TEST_P(GuardEngine, AStopWaitsForTheRowsThatRun) {
  auto bills = begin(quick());
  bills->on_handle = [&](const RowId&) {
    gate_.pass();
    return false;
  };
  start();
  fails(*bills);
  ASSERT_TRUE(gate_.wait_for(1));

  std::thread opener([&] { gate_.open(); });
  engine_.stop(10s);
  opener.join();

  EXPECT_EQ(number("err_retry_count"), 1) << "what the run came to was written";
  EXPECT_EQ(number("err_status"), 4000);
  EXPECT_FALSE(bills->scan_now(100ms));
}

// A row whose run was cut off comes back by its own time, in whatever process.
TEST_P(GuardEngine, ARowThatWasCutOffIsRunByTheNextEngine) {
  GuardOptions options = quick();
  options.attempt_timeout = 20s;
  // Its failure would be the last: a stop is none.
  options.max_retries = 0;
  {
    auto bills = begin(options);
    bills->on_handle = [&](const RowId&) {
      gate_.pass();
      return false;
    };
    start();
    fails(*bills);
    ASSERT_TRUE(gate_.wait_for(1));
    engine_.stop(0s);
    EXPECT_EQ(number("err_status"), 4000);
    gate_.open();
    // The file of SQLite's has one opener.
    engine_ = Engine::open({.store = "memory:"}).value();
    engine_ =
        Engine::open({.store = place_.url(), .scan_period = 100ms, .log = log_.sink()}).value();
  }
  EXPECT_EQ(number("err_status"), 4000) << log_.all();
  EXPECT_EQ(number("err_retry_count"), 0);
  EXPECT_EQ(log_.count("guard_row_cut_off"), 1);
  auto bills = add(options);
  bills->on_check = [](const RowId&) { return true; };

  start();
  retry_comes(0);

  EXPECT_TRUE(reaches(2001)) << log_.all();
}

// A value that the table refuses heals nothing however often it is tried: it ends with a person.
TEST_P(GuardEngine, ASuccessThatTheTableRefusesIsAFailedRun) {
  app_.execute(
      "CREATE TABLE user_bill (id BIGINT NOT NULL PRIMARY KEY, user_id VARCHAR(40),"
      " status VARCHAR(20) NOT NULL CHECK (status <> 'SUCCESS'))");
  app_.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL')");
  GuardOptions options = quick();
  options.max_retries = 1;
  auto bills = add(options);
  bills->on_check = [](const RowId&) { return true; };
  start();
  fails(*bills);
  retry_comes(1);

  EXPECT_TRUE(reaches(4001)) << log_.all();
  EXPECT_EQ(status(), "FAIL");
  EXPECT_TRUE(counts(*bills, &GuardFigures::runs_failed, 2));
}

// A scan that fails ends nothing, and nobody else's.
TEST_P(GuardEngine, OneSickTableStopsNoOtherGuard) {
  auto guards = Guards::on(engine_).value();
  app_.execute(bill_table());
  app_.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL', 10)");
  app_.execute("CREATE TABLE gift (id BIGINT NOT NULL PRIMARY KEY, status VARCHAR(20) NOT NULL)");
  auto bills = guards.add(std::make_shared<Bills>(quick()));
  GuardOptions options = quick();
  options.table = "gift";
  options.user_field = "";
  auto gifts = guards.add(std::make_shared<Bills>(options));
  bills->on_check = [](const RowId&) { return true; };
  start();
  ASSERT_TRUE(eventually([&] { return gifts->figures().scans >= 1; }));

  app_.execute("DROP TABLE gift");

  EXPECT_TRUE(eventually([&] { return gifts->figures().scans_failed >= 2; })) << log_.all();
  fails(*bills);
  EXPECT_TRUE(reaches(2001)) << log_.all();
  EXPECT_EQ(log_.count("guard_scan_failed"), 1) << "told once";
}

// The row is the truth: who brings its time forward by hand need not wait for its task.
TEST_P(GuardEngine, ARowThatSomebodyMakesDueIsRunAlthoughItsTaskWaits) {
  auto bills = begin(quick());
  bills->on_check = [](const RowId&) { return true; };
  start();
  bills->mark_abnormal(1).value();
  ASSERT_FALSE(bills->explain(1).value().due);

  app_.execute("UPDATE user_bill SET err_next_retry_time = NULL");

  EXPECT_TRUE(reaches(2001)) << log_.all();
}

}  // namespace
}  // namespace recourse::tests
