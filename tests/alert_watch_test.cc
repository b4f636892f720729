// DEGR-5, MSG-11: alerts over a real store, by several nodes.
#include "notify/alerts/alert_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/manual_clock.h"
#include "store/memory/memory_store.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

constexpr Duration kWithin = 10s;
constexpr Duration kEvery = 1h;

// One of the nodes that share a store. Its thread never comes to look: tests do.
class WatchingNode {
 public:
  WatchingNode(std::string name, store::OpenedStore& opened, const Clock& clock,
               const std::vector<AlertDefinition>& alerts)
      : ids_(clock, std::hash<std::string>()(name)),
        time_(clock),
        lately_(alerts),
        watch_(
            {.alerts = alerts, .look_every = kEvery, .sayer = {.node = std::move(name)}},
            {.reader = opened.reader(),
             .lately = lately_,
             .time = time_,
             .store_now = [&clock] { return clock.now(); },
             .turns = [this] { return turns; }},
            opened.records(),
            [this](Notice notice, Ended ended) {
              fired.push_back(std::move(notice));
              endings.push_back(std::move(ended));
            },
            ids_, clock, log_) {}

  void look() { ASSERT_TRUE(watch_.look()); }
  void stop() {
    watch_.stop();
    watch_.record_told();
  }
  std::vector<Event> events() const {
    std::vector<Event> all;
    for (const Notice& notice : fired) all.push_back(notice.event);
    return all;
  }

  std::vector<Notice> fired;
  std::vector<Ended> endings;
  std::uint64_t turns = 1;

  Lately& lately() { return lately_; }

 private:
  NullLog log_;
  UlidSource ids_;
  SteadyTime time_;
  Lately lately_;
  AlertWatch watch_;
};

class AlertWatchTest : public testing::Test {
 protected:
  task::TaskId submit(const std::string& kind) {
    store::Submission item;
    item.id = task::TaskId(ids_.next(clock_.now()));
    item.spec.kind = task::Kind(kind);
    EXPECT_TRUE(opened_->store().insert({&item, 1}, store::Novelty::kFresh, kWithin));
    return item.id;
  }
  task::Incarnation join() {
    const task::Incarnation node(ids_.next(clock_.now()));
    EXPECT_TRUE(opened_->store().join({.incarnation = node, .name = "n", .kinds = {}}, kWithin));
    return node;
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  UlidSequence ids_{7};
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
};

AlertDefinition pending(double limit) {
  return {.name = "waiting",
          .state = task::State::kPending,
          .kinds = {"orders.*"},
          .rule = {.fire_at = limit, .clear_at = 0}};
}

TEST_F(AlertWatchTest, OfSeveralNodesOneTellsAndAllKnow) {
  WatchingNode first("n1", *opened_, clock_, {pending(2)});
  WatchingNode second("n2", *opened_, clock_, {pending(2)});
  submit("orders.pay");
  submit("mail");
  first.look();
  EXPECT_THAT(first.fired, SizeIs(0)) << "mail is not counted";
  submit("orders.send");

  first.look();
  second.look();

  EXPECT_THAT(first.events(), ElementsAre(Event::kAlertFired));
  EXPECT_THAT(second.fired, SizeIs(0));
  first.endings.at(0)({Fate::kDelivered});
  first.look();

  // The node that told is gone; another one sees the end of it.
  clock_.advance(5min);
  const task::Order cancel{.move = task::Move::kCancel, .payload = {}, .deadline = {}};
  const store::ByFilter all{.filter = {}, .as_of = clock_.now(), .after = {}};
  ASSERT_TRUE(opened_->store().control(all, cancel, "me", kWithin));
  second.look();
  EXPECT_THAT(second.events(), ElementsAre(Event::kAlertCleared));
}

TEST_F(AlertWatchTest, WhatTheTellerCouldNotTellAnotherTells) {
  WatchingNode first("n1", *opened_, clock_, {pending(1)});
  WatchingNode second("n2", *opened_, clock_, {pending(1)});
  submit("orders.pay");
  first.look();
  ASSERT_THAT(first.fired, SizeIs(1));

  clock_.advance(times_for(kEvery).hold);
  second.look();

  ASSERT_THAT(second.fired, SizeIs(1));
  EXPECT_EQ(second.fired[0].id, first.fired[0].id);
}

TEST_F(AlertWatchTest, WhatWasToldWhileItStoppedIsNotToldAgain) {
  WatchingNode first("n1", *opened_, clock_, {pending(1)});
  submit("orders.pay");
  first.look();
  first.endings.at(0)({Fate::kDelivered});
  first.stop();

  clock_.advance(times_for(kEvery).hold);
  WatchingNode second("n2", *opened_, clock_, {pending(1)});
  second.look();

  EXPECT_THAT(second.fired, SizeIs(0));
}

TEST_F(AlertWatchTest, TheOldestDueTasksWaitIsSeen) {
  const AlertDefinition late{
      .name = "late", .figure = AlertFigure::kOldestDue, .rule = {.fire_at = 60, .clear_at = 10}};
  WatchingNode node("n1", *opened_, clock_, {late});
  submit("mail");
  clock_.advance(59s);
  node.look();
  EXPECT_THAT(node.fired, SizeIs(0));

  clock_.advance(1s);
  node.look();

  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired));
}

// No heartbeat from any node: seen by whoever still looks.
TEST_F(AlertWatchTest, SilenceIsSeenAndEndsWithTheNextHeartbeat) {
  const AlertDefinition silence{
      .name = "silence", .figure = AlertFigure::kSilence, .rule = {.fire_at = 60, .clear_at = 5}};
  const task::Incarnation beating = join();
  WatchingNode node("n1", *opened_, clock_, {silence});
  node.look();
  clock_.advance(61s);
  node.look();
  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired));

  ASSERT_TRUE(opened_->store().heartbeat(beating, 0, kWithin));
  node.look();
  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired, Event::kAlertCleared));
}

TEST_F(AlertWatchTest, ASchedulerThatStandsStillIsItsOwnNodesAlert) {
  const AlertDefinition stalled{
      .name = "stalled", .figure = AlertFigure::kStalled, .rule = {.fire_at = 30, .clear_at = 5}};
  WatchingNode hung("n1", *opened_, clock_, {stalled});
  WatchingNode well("n2", *opened_, clock_, {stalled});
  hung.look();
  well.look();
  clock_.advance(30s);
  well.turns = 2;

  hung.look();
  well.look();

  EXPECT_THAT(hung.events(), ElementsAre(Event::kAlertFired));
  EXPECT_THAT(well.fired, SizeIs(0));
}

// The "own scheduler is dead" case, as the others see it.
TEST_F(AlertWatchTest, ALostNodeIsSeenByTheOneThatDeclaredItDead) {
  const AlertDefinition lost{.name = "lost",
                             .figure = AlertFigure::kLostNodes,
                             .rule = {.fire_at = 1, .clear_at = 0},
                             .within = 5min};
  WatchingNode node("n1", *opened_, clock_, {lost});
  node.look();
  node.lately().lost_node(clock_.now());
  node.look();
  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired));

  clock_.advance(6min);
  node.look();
  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired, Event::kAlertCleared));
}

TEST_F(AlertWatchTest, FewerLiveNodesThanWanted) {
  const AlertDefinition few{
      .name = "few",
      .figure = AlertFigure::kLiveNodes,
      .rule = {.side = policy::AlertSide::kBelow, .fire_at = 1, .clear_at = 2}};
  join();
  WatchingNode node("n1", *opened_, clock_, {few});
  node.look();
  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired));
  join();
  node.look();
  EXPECT_THAT(node.events(), ElementsAre(Event::kAlertFired, Event::kAlertCleared));
}

}  // namespace
}  // namespace recourse::notify
