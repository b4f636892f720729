#include "notify/notifier.h"

#include <stdexcept>

#include "notify/notifier_fixture.h"

namespace recourse::notify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// NOTE-6

TEST_F(NotifierTest, SwitchedOffItIsTheSameToCallersAndDoesNothing) {
  Notifier off;
  off.fire({.event = Event::kEngineError}, [this](const Ending& end) { fates_.add(end.fate); });
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
  const auto channels = notifier_->statuses();
  ASSERT_THAT(channels, SizeIs(2));
  EXPECT_EQ(channels[0].name, "log");
  EXPECT_EQ(channels[0].sent, 1U);
  EXPECT_EQ(channels[1].failed, 2U);
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("it answered 500")));
  expect_the_counts_to_add_up();
}

// NOTE-6

TEST_F(NotifierTest, ALogAloneIsDeliveredAndBesideOthersDoesNotCount) {
  parts_.channels.push_back(std::make_shared<FakeChannel>("log", nullptr, false));
  add("chat");
  add("bad", refuses);
  start({.router = {.rules = {{.kinds = {"alone"}, .channels = {"log"}},
                              {.kinds = {"both"}, .channels = {"log", "chat"}},
                              {.kinds = {"bad"}, .channels = {"log", "bad"}},
                              {.kinds = {"all"}, .channels = {"log", "bad", "chat"}}}},
         .dispatch = {.tries_max = 1}});

  std::size_t ended = 0;
  for (const auto& [kind, fate] : {std::pair("alone", Fate::kDelivered),
                                   {"both", Fate::kDelivered},
                                   {"bad", Fate::kFailed},
                                   {"all", Fate::kDelivered}}) {
    fire(kind, kind);
    EXPECT_EQ(fates_.wait_for(++ended).back(), fate) << kind;
  }
}

TEST_F(NotifierTest, WhatNobodyWantsIsSaidToBeSo) {
  add("log");
  start({.allow = {.from = Severity::kError},
         .router = {.rules = {{.kinds = {"nobody"}, .channels = {}}}}});

  fire("one", "pay", Event::kTakeover);
  fire("two", "nobody");
  notifier_->fire({.event = Event::kDeadLetter, .reason = "not for log"},
                  [this](const Ending& end) { fates_.add(end.fate); });

  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kUnwanted, Fate::kUnwanted, Fate::kUnwanted));
  EXPECT_EQ(notifier_->counts().fired, 3U);
  EXPECT_EQ(notifier_->counts().suppressed, 1U);
}

// NOTE-4, NOTE-5, I11

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

TEST_F(NotifierTest, CallersThatThrowHurtNobody) {
  const auto log = add("log");
  start();
  notifier_->fire({}, [](const Ending&) { throw std::runtime_error("not me"); });
  EXPECT_THAT(log->seen.wait_for(1), SizeIs(1));
  fire("next");
  EXPECT_THAT(fates_.wait_for(1), ElementsAre(Fate::kDelivered));
}

}  // namespace
}  // namespace recourse::notify
