// A scan and what becomes of it, over a table that fails when it is told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
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
  GuardScanner() {
    door_ = std::make_unique<guard::Door>(guard::GuardParts{
        .node = *node_, .opened = *opened_, .ids = ids_, .clock = clock_, .log = log_});
  }
  ~GuardScanner() override {
    door_->stop(Duration::zero());
    node_.reset();
  }

  guard::FakeTable& add(const std::string& name, Duration scan_every = 1h) {
    auto table = std::make_unique<guard::FakeTable>(
        guard::GuardSettings{.name = name, .table = name, .scan_every = scan_every});
    guard::FakeTable& added = *table;
    door_->add({.table = std::move(table), .handlers = {}}, 1s).value();
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

TEST_F(GuardScanner, TwoGuardsOfOneNameAreRefused) {
  add("bills");

  const Result<> second = door_->add({.table = std::make_unique<guard::FakeTable>(
                                          guard::GuardSettings{.name = "bills", .table = "other"}),
                                      .handlers = {}},
                                     1s);

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
