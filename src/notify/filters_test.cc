#include "notify/filters.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rfc3339.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using Answer = Verdict::Answer;

constexpr TimePoint kJudgedAt{1'700'000'000s};

Now at(TimePoint moment) { return {.steady = moment, .wall = moment}; }
Now at(std::string_view text) { return at(parse_rfc3339("at", text).value()); }

Notice about(Event event, std::string kind = "orders.pay", std::string tenant = "acme") {
  return {.event = event,
          .kind = task::Kind(std::move(kind)),
          .tenant = task::Tenant(std::move(tenant))};
}

TEST(AllowFilter, LetsThroughOnlyWhatIsOnEveryList) {
  AllowFilter filter({.events = {Event::kDeadLetter, Event::kEngineError},
                      .kinds = {"orders.*"},
                      .tenants = {"acme"},
                      .from = Severity::kError});

  EXPECT_EQ(filter.judge(about(Event::kDeadLetter), at(kJudgedAt)).answer, Answer::kPass);
  EXPECT_EQ(filter.judge(about(Event::kTakeover), at(kJudgedAt)).answer, Answer::kUnwanted);
  EXPECT_EQ(filter.judge(about(Event::kDeadLetter, "mail"), at(kJudgedAt)).answer,
            Answer::kUnwanted);
  EXPECT_EQ(filter.judge(about(Event::kDeadLetter, "orders.x", "other"), at(kJudgedAt)).answer,
            Answer::kUnwanted);
  EXPECT_EQ(filter.judge(about(Event::kEngineError, "", ""), at(kJudgedAt)).answer, Answer::kPass);
}

// NOTE-4
TEST(RateLimit, LetsTheThresholdThroughInAWindowAndHoldsBackTheRestUntilItsEnd) {
  RateLimit limit({});
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(limit.judge(about(Event::kDeadLetter), at(kJudgedAt + 1s * (i % 3))).answer,
              Answer::kPass);
  }

  const Verdict held = limit.judge(about(Event::kDeadLetter), at(kJudgedAt + 29s));

  EXPECT_EQ(held.answer, Answer::kHoldBack);
  EXPECT_EQ(held.until, kJudgedAt + 30s);
  EXPECT_EQ(limit.judge(about(Event::kDeadLetter, "mail"), at(kJudgedAt + 29s)).answer,
            Answer::kPass);
  EXPECT_EQ(limit.judge(about(Event::kTakeover), at(kJudgedAt + 29s)).answer, Answer::kPass);
  EXPECT_EQ(limit.judge(about(Event::kDeadLetter), at(kJudgedAt + 30s)).answer, Answer::kPass);
}

TEST(RateLimit, RemembersABoundedNumberOfKinds) {
  RateLimit limit({});
  for (int i = 0; i < 20'000; ++i) {
    (void)limit.judge(about(Event::kDeadLetter, "kind-" + std::to_string(i)),
                      at(kJudgedAt + 10ms * i));
  }
  EXPECT_LE(limit.windows(), RateLimit::kWindowsMax + kAllEvents.size());
}

RC_GTEST_PROP(RateLimit, NeverLetsMoreThanTheThresholdThroughInOneWindow, ()) {
  const int threshold = *rc::gen::inRange(1, 5);
  RateLimit limit({.window = 10s, .threshold = threshold});
  std::vector<TimePoint> passed;
  TimePoint now = kJudgedAt;
  for (int i = 0; i < 100; ++i) {
    now += 1s * *rc::gen::inRange(0, 5);
    const Verdict verdict = limit.judge(about(Event::kDeadLetter), at(now));
    if (verdict.answer == Answer::kPass) {
      passed.push_back(now);
    } else {
      RC_ASSERT(verdict.until > now && verdict.until <= now + 10s);
    }
  }
  // Windows begin with their first: two of them may touch.
  for (std::size_t i = static_cast<std::size_t>(2 * threshold); i < passed.size(); ++i) {
    RC_ASSERT(passed[i] - passed[i - static_cast<std::size_t>(2 * threshold)] >= 10s);
  }
}

QuietHours quiet(std::string_view range, std::string zone = "UTC") {
  return QuietHours::make(
             {.ranges = {parse_quiet_range("ranges", range).value()}, .zone = std::move(zone)})
      .value();
}

TEST(QuietHours, HoldBackUntilTheyEndOverMidnightToo) {
  QuietHours hours = quiet("22:00-07:30", "Asia/Shanghai");  // 14:00 to 23:30 UTC

  EXPECT_EQ(hours.judge(about(Event::kDeadLetter), at("2026-11-16T13:59:59Z")).answer,
            Answer::kPass);
  const Verdict evening = hours.judge(about(Event::kDeadLetter), at("2026-11-16T14:00:00Z"));
  EXPECT_EQ(evening.answer, Answer::kHoldBack);
  EXPECT_EQ(format_rfc3339(evening.until), "2026-11-16T23:30:00Z");
  const Verdict morning = hours.judge(about(Event::kDeadLetter), at("2026-11-16T23:29:59Z"));
  EXPECT_EQ(format_rfc3339(morning.until), "2026-11-16T23:30:00Z");
  EXPECT_EQ(hours.judge(about(Event::kDeadLetter), at("2026-11-16T23:30:00Z")).answer,
            Answer::kPass);
}

TEST(QuietHours, WakePeopleUpForWhatMattersEnough) {
  QuietHours hours = quiet("00:00-24:00");
  EXPECT_EQ(hours.judge(about(Event::kDeadLetter), at(kJudgedAt)).answer, Answer::kHoldBack);
  EXPECT_EQ(hours.judge(about(Event::kEngineError), at(kJudgedAt)).answer, Answer::kPass);
}

TEST(QuietHours, EndByTheClockOnTheWallInTheNightInWhichItChanges) {
  QuietHours hours = quiet("22:00-07:00", "Europe/Berlin");
  const Verdict spring = hours.judge(about(Event::kDeadLetter), at("2026-03-28T22:00:00Z"));
  EXPECT_EQ(format_rfc3339(spring.until), "2026-03-29T05:00:00Z");
  const Verdict autumn = hours.judge(about(Event::kDeadLetter), at("2026-10-24T22:00:00Z"));
  EXPECT_EQ(format_rfc3339(autumn.until), "2026-10-25T06:00:00Z");
}

TEST(QuietHours, AreRefusedWhereTheyAreNone) {
  for (const char* text : {"", "22:00", "22:00-", "22-7", "25:00-07:00", "22:60-07:00",
                           "07:00-07:00", "24:00-07:00", "2x:00-07:00"}) {
    EXPECT_FALSE(parse_quiet_range("ranges", text)) << text;
  }
  const auto zone = QuietHours::make({.ranges = {}, .zone = "Mars/Olympus"});
  ASSERT_FALSE(zone);
  EXPECT_NE(zone.error().message.find("quiet_hours.zone"), std::string::npos);
}

RC_GTEST_PROP(QuietHours, WhatTheyHoldBackMayPassWhenTheySay, ()) {
  QuietHours hours = QuietHours::make({.ranges = {{*rc::gen::inRange(0, 1'440) * 1min, 12h + 1us}},
                                       .zone = "America/New_York"})
                         .value();
  const TimePoint now = kJudgedAt + *rc::gen::inRange(0, 365 * 1'440) * 1min;
  const Verdict verdict = hours.judge(about(Event::kDeadLetter), at(now));
  if (verdict.answer == Answer::kPass) return;
  RC_ASSERT(verdict.until > now && verdict.until <= now + 26h);
  RC_ASSERT(hours.judge(about(Event::kDeadLetter), at(verdict.until)).answer == Answer::kPass);
  RC_ASSERT(hours.judge(about(Event::kDeadLetter), at(verdict.until - 1us)).answer ==
            Answer::kHoldBack);
}

}  // namespace
}  // namespace recourse::notify
