#include "notify/notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/manual_clock.h"
#include "notify/fake_channel.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class NotifierTest : public testing::Test {
 protected:
  std::shared_ptr<FakeChannel> add(std::string name, FakeChannel::Script script = nullptr) {
    auto channel = std::make_shared<FakeChannel>(std::move(name), std::move(script));
    parts_.channels.push_back(channel);
    return channel;
  }
  void start(NotifierSettings settings = {}) {
    parts_.on_delivery = [this](const Delivery& delivery) { deliveries_.add(delivery); };
    notifier_ = Notifier::make(std::move(settings), std::move(parts_), clock_, log_).value();
  }
  void fire(std::string id, std::string kind = "pay", Event event = Event::kDeadLetter) {
    notifier_->fire(from(std::move(id), std::move(kind), event),
                    [this](Fate fate) { fates_.add(fate); });
  }
  static Notice from(std::string id, std::string kind, Event event) {
    return {.id = std::move(id), .event = event, .kind = task::Kind(std::move(kind))};
  }
  void pass(Duration time) {
    clock_.advance(time);
    notifier_->look_at_held_back();
  }
  void expect_the_counts_to_add_up() const {
    const NotifierCounts counts = notifier_->counts();
    EXPECT_EQ(counts.routed, counts.sent + counts.failed + counts.suppressed + counts.out);
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  MemoryLog log_;
  Happened<Fate> fates_;
  Happened<Delivery> deliveries_;
  NotifierParts parts_;
  std::unique_ptr<Notifier> notifier_;
};

// NOTE-6
TEST_F(NotifierTest, SwitchedOffItIsTheSameToCallersAndDoesNothing) {
  Notifier off;
  off.fire({.event = Event::kEngineError}, [this](Fate fate) { fates_.add(fate); });
  off.fire({});
  off.stop(1s);
  off.look_at_held_back();

  EXPECT_FALSE(off.is_on());
  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kUnwanted));
  EXPECT_EQ(off.counts().fired, 0U);
  EXPECT_FALSE(off.test("log", {}));
}

TEST_F(NotifierTest, TellsEveryChannelOfTheRouteAndThenTheCaller) {
  const auto log = add("log");
  const auto chat = add("chat");
  add("other");
  start({.router = {.defaults = {"log", "chat"}}});

  fire("one");

  EXPECT_THAT(fates_.wait_for(1), ElementsAre(Fate::kDelivered));
  EXPECT_EQ(log->seen.all().at(0).id, "one");
  EXPECT_EQ(chat->seen.all().at(0).severity, Severity::kError);
  const auto deliveries = deliveries_.all();
  ASSERT_THAT(deliveries, SizeIs(2));
  EXPECT_EQ(deliveries[0].result, DeliveryResult::kSent);
  EXPECT_EQ(deliveries[0].notice, "one");
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, IsDeliveredWhereOneChannelTookItAndFailedWhereNoneDid) {
  add("log");
  add("bad", refuses);
  start({.router = {.rules = {{.kinds = {"both"}, .channels = {"log", "bad"}},
                              {.kinds = {"bad"}, .channels = {"bad"}}}},
         .dispatch = {.tries_max = 1}});

  fire("one", "both");
  EXPECT_THAT(fates_.wait_for(1), ElementsAre(Fate::kDelivered));
  fire("two", "bad");
  EXPECT_THAT(fates_.wait_for(2), ElementsAre(Fate::kDelivered, Fate::kFailed));

  EXPECT_EQ(notifier_->counts().failed, 2U);
  EXPECT_EQ(notifier_->counts().sent, 1U);
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("it answered 500")));
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, WhatNobodyWantsIsSaidToBeSo) {
  add("log");
  start({.allow = {.from = Severity::kError},
         .router = {.rules = {{.kinds = {"nobody"}, .channels = {}}}}});

  fire("one", "pay", Event::kTakeover);
  fire("two", "nobody");
  notifier_->fire({.event = Event::kDeadLetter, .reason = "not for log"},
                  [this](Fate fate) { fates_.add(fate); });

  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kUnwanted, Fate::kUnwanted, Fate::kUnwanted));
  EXPECT_EQ(notifier_->counts().fired, 3U);
  EXPECT_EQ(notifier_->counts().suppressed, 1U);
}

// NOTE-4, NOTE-5, I11
TEST_F(NotifierTest, WhatWasHeldBackIsCountedInTheNextMessageOfItsSort) {
  const auto log = add("log");
  start({.rate_limit = {.threshold = 2}});
  for (int i = 0; i < 5; ++i) fire("n" + std::to_string(i));
  fire("other", "mail");
  EXPECT_THAT(fates_.wait_for(3), SizeIs(3));
  EXPECT_EQ(notifier_->counts().suppressed, 3U);

  clock_.advance(30s);
  fire("next");

  EXPECT_THAT(fates_.wait_for(7), AllOf(SizeIs(7), Each(Fate::kDelivered)));
  EXPECT_EQ(log->seen.all().back().id, "next");
  EXPECT_EQ(log->seen.all().back().more, 3);
  EXPECT_EQ(deliveries_.all().back().more, 3);
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, WhereNoOtherMessageComesTheNewestIsNamedWhenTheWindowEnds) {
  const auto log = add("log");
  start({.rate_limit = {.threshold = 2}});
  for (int i = 0; i < 5; ++i) fire("n" + std::to_string(i));

  pass(29s);
  EXPECT_THAT(fates_.wait_for(2), SizeIs(2));
  pass(1s);

  EXPECT_THAT(fates_.wait_for(5), AllOf(SizeIs(5), Each(Fate::kDelivered)));
  ASSERT_THAT(log->seen.all(), SizeIs(3));
  EXPECT_EQ(log->seen.all().back().id, "n4");
  EXPECT_EQ(log->seen.all().back().more, 2);
  EXPECT_TRUE(deliveries_.all().back().summary);
  EXPECT_EQ(notifier_->counts().sent, 2U);
  EXPECT_EQ(notifier_->counts().summaries_sent, 1U);
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, AMessageCountsOnlyWhatItsOwnChannelsWouldHaveGot) {
  const auto a = add("a");
  const auto b = add("b");
  start({.rate_limit = {.threshold = 1},
         .router = {.rules = {{.tenants = {"A"}, .channels = {"a"}}}, .defaults = {"b"}}});
  const auto of = [this](std::string id, std::string tenant) {
    Notice notice = from(std::move(id), "pay", Event::kDeadLetter);
    notice.tenant = task::Tenant(std::move(tenant));
    notifier_->fire(notice, [this](Fate fate) { fates_.add(fate); });
  };
  of("a1", "A");
  of("b1", "B");  // held back: one window for the event and kind
  clock_.advance(30s);
  of("a2", "A");

  EXPECT_THAT(fates_.wait_for(2), SizeIs(2));
  EXPECT_EQ(a->seen.all().back().more, 0);
  pass(30s);
  EXPECT_THAT(fates_.wait_for(3), SizeIs(3));
  EXPECT_EQ(b->seen.all().at(0).id, "b1");
}

TEST_F(NotifierTest, WhatIsHeldBackFailsWithTheMessageThatCountsIt) {
  add("log", [](const Notice& notice, const std::stop_token& stop) {
    return notice.more > 0 ? refuses(notice, stop) : Result<>();
  });
  start({.rate_limit = {.threshold = 1}, .dispatch = {.tries_max = 1}});
  for (int i = 0; i < 3; ++i) fire("n" + std::to_string(i));
  EXPECT_THAT(fates_.wait_for(1), ElementsAre(Fate::kDelivered));

  pass(30s);

  EXPECT_THAT(fates_.wait_for(3), ElementsAre(Fate::kDelivered, Fate::kFailed, Fate::kFailed));
}

TEST_F(NotifierTest, QuietHoursHoldBackUntilTheyEnd) {
  const auto log = add("log");
  // 1,700,000,000 is 22:13:20 UTC.
  start({.quiet_hours = {.ranges = {{22h, 23h}}}});
  fire("quiet");
  fire("loud", "", Event::kEngineError);
  EXPECT_THAT(fates_.wait_for(1), SizeIs(1));

  pass(46min);
  EXPECT_THAT(log->seen.all(), SizeIs(1));
  pass(1min);

  EXPECT_EQ(log->seen.wait_for(2).back().id, "quiet");
}

TEST_F(NotifierTest, DropsWhatItHasNoRoomToHoldBack) {
  add("log");
  start({.rate_limit = {.threshold = 1}, .held_back_max = 2});
  for (int i = 0; i < 5; ++i) fire("n" + std::to_string(i));

  pass(30s);

  const auto fates = fates_.wait_for(5);
  EXPECT_EQ(std::ranges::count(fates, Fate::kDropped), 2);
  EXPECT_EQ(std::ranges::count(fates, Fate::kDelivered), 3);
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, DropsWhatTheQueueHasNoRoomFor) {
  Gate gate;
  const auto slow =
      add("log", [&](const Notice&, const std::stop_token& stop) { return gate.pass(stop); });
  start({.dispatch = {.threads_core = 1, .threads_max = 1, .queue_max = 1}});
  fire("out");
  slow->seen.wait_for(1);
  fire("waits");
  fire("dropped");

  EXPECT_THAT(fates_.wait_for(1), ElementsAre(Fate::kDropped));
  EXPECT_EQ(notifier_->counts().refused, 1U);
  gate.open();
  EXPECT_THAT(fates_.wait_for(3), SizeIs(3));
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, NothingLeavesUnmasked) {
  const auto log = add("log");
  start();
  notifier_->fire({.event = Event::kPersistFailed,
                   .last_error = "postgres://app:hunter2@db refused",
                   .attributes = {{"dsn", "mysql://u:hunter2@h"}}});

  const Notice seen = log->seen.wait_for(1).at(0);
  EXPECT_EQ(seen.last_error, "postgres://app:***@db refused");
  EXPECT_EQ(seen.attributes.at("dsn"), "mysql://u:***@h");
}

TEST_F(NotifierTest, SeveritiesAreSettings) {
  const auto log = add("log");
  start({.severities = {{Event::kTakeover, Severity::kCritical}}});
  notifier_->fire({.event = Event::kTakeover});
  notifier_->fire({.event = Event::kTakeover, .severity = Severity::kError});

  const auto seen = log->seen.wait_for(2);
  EXPECT_THAT((std::vector{seen.at(0).severity, seen.at(1).severity}),
              testing::UnorderedElementsAre(Severity::kCritical, Severity::kError));
}

class OnlyReminders final : public Filter {
 public:
  Verdict judge(const Notice& notice, Now) override {
    if (notice.reminder > 5) throw std::runtime_error("cannot count so far");
    return {.answer = notice.reminder > 0 ? Verdict::Answer::kPass : Verdict::Answer::kUnwanted};
  }
};

class ToNowhere final : public Router {
 public:
  [[nodiscard]] std::vector<std::string> route(const Notice& notice) const override {
    if (notice.kind.value == "bad") throw std::runtime_error("no way");
    return {"nowhere", "log", "log"};
  }
};

// NOTE-3, NOTE-4
TEST_F(NotifierTest, TakesFiltersAndRoutersOfTheUsersAndSurvivesThem) {
  const auto log = add("log");
  parts_.filters.push_back(std::make_unique<OnlyReminders>());
  parts_.router = std::make_unique<ToNowhere>();
  start();

  fire("first");
  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kUnwanted));
  notifier_->fire({.id = "reminder", .kind = task::Kind("bad"), .reminder = 1});
  notifier_->fire({.id = "many", .reminder = 6});

  EXPECT_THAT(log->seen.wait_for(2), SizeIs(2));
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("nowhere")));
}

TEST_F(NotifierTest, RefusesSettingsThatCannotWork) {
  add("log");
  add("log");
  const auto twice = Notifier::make({}, std::move(parts_), clock_, log_);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("two channels"));
  EXPECT_FALSE(validate(NotifierSettings{.masking = {.patterns = {"("}}}, {"log"}));
  EXPECT_FALSE(validate(NotifierSettings{.quiet_hours = {.zone = "X"}}, {"log"}));
  EXPECT_FALSE(validate(NotifierSettings{.rate_limit = {.threshold = 0}}, {"log"}));
  EXPECT_FALSE(validate(NotifierSettings{}, {"chat"}));
  EXPECT_TRUE(validate(NotifierSettings{}, {"log"}));
}

TEST_F(NotifierTest, ATestGoesStraightToItsChannel) {
  const auto log = add("log");
  add("bad", refuses);
  start({.allow = {.from = Severity::kCritical}});

  EXPECT_TRUE(notifier_->test("log", {.last_error = "token=abc"}));
  EXPECT_EQ(log->seen.all().at(0).last_error, "token=***");
  EXPECT_EQ(notifier_->test("bad", {}).error().message, "it answered 500");
  EXPECT_THAT(notifier_->test("x", {}).error().message, HasSubstr("there are: log, bad"));
  EXPECT_EQ(notifier_->counts().fired, 0U);
}

TEST_F(NotifierTest, StopTellsOfWhatCameTooFastButNotOfWhatWaitsForTheMorning) {
  const auto log = add("log");
  start({.rate_limit = {.threshold = 1}});
  for (int i = 0; i < 3; ++i) fire("n" + std::to_string(i));

  notifier_->stop(kPatience);

  EXPECT_THAT(fates_.all(), AllOf(SizeIs(3), Each(Fate::kDelivered)));
  EXPECT_EQ(log->seen.all().back().more, 1);
  fire("late");
  EXPECT_EQ(fates_.all().back(), Fate::kDropped);
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, StopDropsWhatWaitsForTheMorning) {
  const auto log = add("log");
  start({.quiet_hours = {.ranges = {{0h, 24h}}}});
  fire("quiet");

  notifier_->stop(kPatience);

  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kDropped));
  EXPECT_THAT(log->seen.all(), SizeIs(0));
}

TEST_F(NotifierTest, CallersThatThrowHurtNobody) {
  const auto log = add("log");
  start();
  notifier_->fire({}, [](Fate) { throw std::runtime_error("not me"); });
  EXPECT_THAT(log->seen.wait_for(1), SizeIs(1));
  fire("next");
  EXPECT_THAT(fates_.wait_for(1), ElementsAre(Fate::kDelivered));
}

}  // namespace
}  // namespace recourse::notify
