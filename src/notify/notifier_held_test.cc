// What is held back: counted in the next message, named when its time comes, dropped where nothing
// holds it.
#include "notify/notifier_fixture.h"

namespace recourse::notify {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

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
    notifier_->fire(notice, [this](const Ending& end) { fates_.add(end.fate); });
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

TEST_F(NotifierTest, WhatItHasNoRoomToHoldBackIsAskedForLater) {
  add("log");
  start({.rate_limit = {.threshold = 1}, .held_back_max = 2});
  for (int i = 0; i < 5; ++i) fire("n" + std::to_string(i));

  pass(30s);

  const auto fates = fates_.wait_for(5);
  EXPECT_EQ(std::ranges::count(fates, Fate::kLater), 2);
  EXPECT_EQ(std::ranges::count(fates, Fate::kDelivered), 3);
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, StopTellsOfWhatCameTooFastButNotOfWhatWaitsForTheMorning) {
  const auto log = add("log");
  start({.rate_limit = {.threshold = 1}});
  fire("n0");
  (void)fates_.wait_for(
      1);  // two threads send: which message is the last would be a matter of luck
  for (int i = 1; i < 3; ++i) fire("n" + std::to_string(i));

  notifier_->stop(kPatience);

  EXPECT_THAT(fates_.all(), AllOf(SizeIs(3), Each(Fate::kDelivered)));
  EXPECT_EQ(log->seen.all().back().more, 1);
  fire("late");
  EXPECT_EQ(fates_.all().back(), Fate::kDropped);
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, WhoIsNotKeptThroughQuietHoursHearsHowLongTheyLast) {
  add("log");
  // 1,700,000,000 is 22:13:20 UTC.
  start({.quiet_hours = {.ranges = {{22h, 23h}}}, .held_back_max = 1});
  // The last one ends on another thread, maybe after this test.
  const auto waits = std::make_shared<Happened<Duration>>();
  for (int i = 0; i < 3; ++i) {
    notifier_->fire(from("quiet", "pay", Event::kDeadLetter), [this, waits](const Ending& end) {
      waits->add(end.wait);
      fates_.add(end.fate);
    });
  }
  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kLater, Fate::kLater));
  EXPECT_THAT(waits->all(), Each(46min + 40s));
  pass(46min + 40s);
  EXPECT_THAT(fates_.wait_for(3), ElementsAre(Fate::kLater, Fate::kLater, Fate::kDelivered));
  expect_the_counts_to_add_up();
}

TEST_F(NotifierTest, StopDoesNotTellOfWhatWaitsForTheMorning) {
  const auto log = add("log");
  start({.quiet_hours = {.ranges = {{0h, 24h}}}});
  fire("quiet");

  notifier_->stop(kPatience);

  EXPECT_THAT(fates_.all(), ElementsAre(Fate::kLater));
  EXPECT_THAT(log->seen.all(), SizeIs(0));
}

}  // namespace
}  // namespace recourse::notify
