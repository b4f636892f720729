// A scan and what becomes of it, over a table that fails when it is told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/ulid_source.h"
#include "engine/node.h"
#include "guard/door.h"
#include "guard/fake_table.h"
#include "store/memory/memory_store.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GuardScanner : public ::testing::Test {
 protected:
  GuardScanner() { open_door(nullptr); }
  void open_door(guard::Tell tell) {
    door_ = std::make_unique<guard::Door>(guard::GuardParts{.node = *node_,
                                                            .opened = *opened_,
                                                            .ids = ids_,
                                                            .clock = clock_,
                                                            .log = log_,
                                                            .tell = std::move(tell)});
  }
  ~GuardScanner() override {
    door_->stop(Duration::zero());
    node_.reset();
  }

  guard::FakeTable& add(const std::string& name, Duration scan_every = 1h,
                        const std::string& route = "") {
    auto table = std::make_unique<guard::FakeTable>(guard::GuardSettings{
        .name = name, .table = name, .manual_success_route = route, .scan_every = scan_every});
    guard::FakeTable& added = *table;
    door_->add({.table = std::move(table), .handlers = {}}).value();
    return added;
  }
  void start() {
    node_->start().value();
    door_->start();
  }
  guard::GuardCounters counters(const char* name) { return door_->find(name)->counters(); }
  int logged(std::string_view event) {
    int count = 0;
    for (const std::string& line : log_.lines()) {
      count += line.find(event) != std::string::npos ? 1 : 0;
    }
    return count;
  }

  SystemClock clock_;
  MemoryLog log_;
  UlidSource ids_{clock_, 7};
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
  std::unique_ptr<guard::Door> door_;
  std::unique_ptr<engine::Node> node_ =
      std::make_unique<engine::Node>(*opened_, clock_, log_, engine::NodeSettings{}, 42);
};

// GUARD-14: whoever went there would reach somebody else.
TEST_F(GuardScanner, ARouteThatSomebodyElseHasIsNamedToNobody) {
  Mutex mutex;
  std::map<std::string, std::string> routes;
  open_door([&](const guard::Reminder& reminder, const guard::Told& told) {
    {
      const MutexLock lock(mutex);
      routes[reminder.settings.name] = reminder.manual_success_route;
    }
    told({.fate = guard::Telling::Fate::kTold});
  });
  for (const char* name : {"bills", "taken"}) {
    add(name, 1h, "/api/bill").on_take_reminders = [is_due = true](Duration hold) mutable {
      std::vector<guard::ReminderClaim> taken;
      if (std::exchange(is_due, false)) {
        taken.push_back({.row = {.id = guard::RowId(1)}, .token = TimePoint(hold)});
      }
      return taken;
    };
  }

  door_->find("taken")->leave_route();
  start();

  ASSERT_TRUE(eventually([&] {
    const MutexLock lock(mutex);
    return routes.size() == 2;
  }));
  const MutexLock lock(mutex);
  EXPECT_EQ(routes["bills"], "/api/bill");
  EXPECT_EQ(routes["taken"], "");
}

// It may read all of a large table without them.
TEST_F(GuardScanner, TheFirstScanWaitsForIndexesAndNobodyElseDoes) {
  std::atomic<bool> is_built = false;
  guard::FakeTable& table = add("bills");
  table.on_plan = [&]() -> Result<guard::TablePlan> {
    return is_built ? guard::TablePlan{} : guard::TablePlan{{"CREATE INDEX"}};
  };
  table.on_add_indexes = [&](const std::stop_token& stop) -> Result<> {
    EXPECT_TRUE(eventually([&] { return is_built || stop.stop_requested(); }));
    return {};
  };
  start();
  ASSERT_TRUE(eventually([&] { return logged("guard_indexes_begun") == 1; }));

  EXPECT_TRUE(door_->find("bills")->mark_abnormal(guard::RowId(1), std::nullopt, 1s));
  EXPECT_EQ(counters("bills").scans, 0U);
  is_built = true;

  EXPECT_TRUE(eventually([&] { return counters("bills").scans == 1; }));
  EXPECT_EQ(logged("guard_table_prepared"), 1);
  EXPECT_EQ(logged("guard_indexes_missing"), 0);
}

TEST_F(GuardScanner, AnIndexThatCouldNotBeBuiltIsToldAndTriedAgain) {
  std::atomic<int> tries = 0;
  guard::FakeTable& table = add("bills");
  table.on_plan = [&]() -> Result<guard::TablePlan> {
    return tries < 2 ? guard::TablePlan{{"CREATE INDEX"}} : guard::TablePlan{};
  };
  table.on_add_indexes = [&](const std::stop_token&) -> Result<> {
    return ++tries < 2 ? fail(ErrorCode::kUnavailable, "it was in use") : Result<>();
  };

  start();

  EXPECT_TRUE(eventually([&] { return tries == 2 && logged("guard_table_prepared") == 1; }));
  EXPECT_EQ(logged("guard_indexes_missing"), 1);
  EXPECT_EQ(logged("it was in use"), 1);
  EXPECT_GE(counters("bills").scans, 1U) << "meanwhile it works";
}

// It has one writer at a time: the application would wait for as long as a build takes.
TEST_F(GuardScanner, AFileIsNotGivenIndexesBesideItsApplication) {
  guard::FakeTable& table = add("bills");
  table.is_file = true;
  table.on_plan = []() -> Result<guard::TablePlan> { return guard::TablePlan{{"CREATE INDEX"}}; };

  start();

  ASSERT_TRUE(eventually([&] { return counters("bills").scans == 1; }));
  EXPECT_THAT(table.calls(), ElementsAre("heal", "due", "promote", "take_reminders"));
}

TEST_F(GuardScanner, AStopEndsAnIndexThatIsBeingBuilt) {
  guard::FakeTable& table = add("bills");
  table.on_plan = []() -> Result<guard::TablePlan> { return guard::TablePlan{{"CREATE INDEX"}}; };
  table.on_add_indexes = [&](const std::stop_token& stop) -> Result<> {
    EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
    return fail(ErrorCode::kUnavailable, "ended");
  };
  start();
  ASSERT_TRUE(eventually([&] { return logged("guard_indexes_begun") == 1; }));

  door_->close();
  door_->stop(1s);

  EXPECT_EQ(logged("guard_indexes_missing"), 0) << "that is no trouble";
}

// GUARD-6
TEST_F(GuardScanner, AScanHasFourStepsInTheirOrder) {
  const guard::FakeTable& table = add("bills");
  start();

  ASSERT_TRUE(eventually([&] { return counters("bills").scans == 1; }));

  EXPECT_THAT(table.calls(), ElementsAre("heal", "due", "promote", "take_reminders"));
  ASSERT_TRUE(door_->find("bills")->scan_now(5s));
  EXPECT_EQ(counters("bills").scans, 2U);
}

TEST_F(GuardScanner, AStepThatFailsDoesNotKeepTheOthersFromTheirWork) {
  guard::FakeTable& table = add("bills");
  table.on_heal = []() -> Result<guard::Healed> {
    return fail(ErrorCode::kExhausted, "somebody has locked it");
  };
  start();

  ASSERT_TRUE(eventually([&] { return counters("bills").scans_failed == 1; }));

  EXPECT_THAT(table.calls(), ElementsAre("heal", "due", "promote", "take_reminders"));
  EXPECT_EQ(door_->find("bills")->scan_now(5s).error().message, "somebody has locked it");
}

TEST_F(GuardScanner, ADatabaseThatIsAwayIsToldOnceAndLookedAtAgainUntilItIsBack) {
  std::atomic<bool> is_away = true;
  guard::FakeTable& table = add("bills", 20ms);
  table.on_heal = [&]() -> Result<guard::Healed> {
    if (is_away) return fail(ErrorCode::kUnavailable, "it is away");
    return guard::Healed{};
  };
  add("gifts", 20ms);
  start();

  ASSERT_TRUE(eventually([&] { return counters("bills").scans_failed >= 3; }));
  EXPECT_THAT(table.calls(), ::testing::Each("heal")) << "nothing else is asked of it";
  EXPECT_EQ(counters("gifts").scans_failed, 0U);
  EXPECT_GE(counters("gifts").scans, 1U);
  is_away = false;

  ASSERT_TRUE(eventually([&] { return logged("guard_scan_works_again") == 1; }));
  EXPECT_EQ(logged("guard_scan_failed"), 1);
}

// A table with no end of work: a stop waits for the batch that is out, and for no other.
TEST_F(GuardScanner, AStopComesBetweenTwoBatches) {
  guard::FakeTable& table = add("bills");
  std::atomic<int> batches = 0;
  table.on_heal = [&]() -> Result<guard::Healed> {
    if (++batches == 3) door_->close();
    return guard::Healed{.got_start_time = 1, .more = true};
  };
  start();
  ASSERT_TRUE(eventually([&] { return batches >= 3; }));

  door_->stop(5s);

  EXPECT_EQ(batches, 3);
  EXPECT_THAT(table.calls(), ElementsAre("heal", "heal", "heal"));
  EXPECT_EQ(logged("guard_scan_failed"), 0);
}

// However much there is: a scan ends, and the next one goes on.
TEST_F(GuardScanner, AScanHasAnEnd) {
  guard::FakeTable& table = add("bills");
  table.on_heal = [&]() -> Result<guard::Healed> {
    return guard::Healed{.became_2001 = 1, .more = true};
  };
  table.on_promote = [](std::size_t limit) {
    return std::vector<guard::RowId>(limit, guard::RowId(1));
  };
  start();

  ASSERT_TRUE(eventually([&] { return counters("bills").scans == 1; }, 30s));

  EXPECT_EQ(std::ranges::count(table.calls(), "heal"), 50);
  EXPECT_EQ(std::ranges::count(table.calls(), "promote"), 50);
}

// A batch of which nothing can be written, because all of it is locked, is not asked for again.
TEST_F(GuardScanner, ABatchThatCannotBeWrittenIsLeftForTheNextScan) {
  guard::FakeTable& table = add("bills");
  table.on_heal = [&]() -> Result<guard::Healed> { return guard::Healed{.more = true}; };
  start();

  ASSERT_TRUE(eventually([&] { return counters("bills").scans == 1; }));

  EXPECT_THAT(table.calls(), ElementsAre("heal", "due", "promote", "take_reminders"));
}

TEST_F(GuardScanner, TwoGuardsOfOneNameAreRefused) {
  add("bills");

  const Result<> second = door_->add({.table = std::make_unique<guard::FakeTable>(
                                          guard::GuardSettings{.name = "bills", .table = "other"}),
                                      .handlers = {}});

  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another name"));
}

TEST_F(GuardScanner, AfterTheCloseNoScanBegins) {
  add("bills");
  start();
  ASSERT_TRUE(door_->find("bills")->scan_now(5s));

  door_->close();

  EXPECT_EQ(door_->find("bills")->scan_now(5s).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace recourse::tests
