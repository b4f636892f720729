#include "policy/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/named.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

Backoff make(const BackoffSettings& settings) {
  return Backoff::make(BackoffRegistry(), settings).value();
}

std::vector<Duration> first(const Backoff& backoff, int retries) {
  std::vector<Duration> delays;
  for (int retry = 1; retry <= retries; ++retry) delays.push_back(backoff.before_jitter(retry));
  return delays;
}

TEST(Backoff, FixedLinearAndExponentialGrowAsTheirNamesSay) {
  EXPECT_THAT(first(make({.strategy = "fixed"}), 4), ElementsAre(1s, 1s, 1s, 1s));
  EXPECT_THAT(first(make({.strategy = "linear"}), 4), ElementsAre(1s, 2s, 3s, 4s));
  EXPECT_THAT(first(make({.strategy = "exponential"}), 4), ElementsAre(1s, 2s, 4s, 8s));
}

TEST(Backoff, TheMessageScheduleIsExactWhateverTheJitter) {  // MSG-6
  const Backoff backoff = make({.strategy = "message", .jitter = Jitter::kFull});
  Rng rng(1);
  std::vector<Duration> delays;

  for (int retry = 1; retry <= 5; ++retry) delays.push_back(backoff.delay(retry, rng));

  EXPECT_THAT(delays, ElementsAre(1s, 2s, 4s, 8s, 16s));
}

TEST(Backoff, AGuardedRowsIntervalsAreLinearWithoutJitter) {  // GUARD-10
  const Backoff backoff =
      make({.strategy = "linear", .base = 5s, .min = 0s, .max = 24h, .jitter = Jitter::kNone});
  Rng rng(1);

  EXPECT_EQ(backoff.delay(1, rng), 5s);
  EXPECT_EQ(backoff.delay(2, rng), 10s);
}

TEST(Backoff, ADegradedSideEffectWaitsAMinuteFirst) {  // DEGR-3
  EXPECT_THAT(first(make({.base = 1min, .max = 1h}), 3), ElementsAre(1min, 2min, 4min));
}

TEST(Backoff, TheDefaultsAreThoseOfTheSources) {  // ENG-8
  const BackoffSettings settings;

  EXPECT_EQ(settings.strategy, "exponential");
  EXPECT_EQ(settings.base, 1s);
  EXPECT_EQ(settings.min, 500ms);
  EXPECT_EQ(settings.max, 300s);
  EXPECT_EQ(settings.jitter, Jitter::kRatio);
  EXPECT_EQ(settings.jitter_ratio, 0.2);
}

TEST(Backoff, AUsersOwnCurveIsFoundByNameAndClamped) {
  BackoffRegistry registry;
  ASSERT_TRUE(registry.add("night-shift", [](Duration, int retry) {
    return retry == 1 ? Duration::min() : Duration::max();
  }));

  const Backoff backoff = Backoff::make(registry, {.strategy = "night-shift"}).value();

  EXPECT_THAT(first(backoff, 2), ElementsAre(500ms, 300s));
}

TEST(Backoff, ACurveThatThrowsWaitsForTheMaximum) {
  BackoffRegistry registry;
  ASSERT_TRUE(registry.add("broken", [](Duration, int) -> Duration { throw 7; }));
  Rng rng(1);

  const Backoff backoff =
      Backoff::make(registry, {.strategy = "broken", .jitter = Jitter::kNone}).value();

  EXPECT_EQ(backoff.delay(1, rng), 300s);
}

TEST(Backoff, ATakenOrMalformedNameIsRefused) {
  BackoffRegistry registry;
  const Curve curve = [](Duration base, int) { return base; };

  EXPECT_THAT(registry.add("fixed", curve).error().message, HasSubstr("exists already"));
  EXPECT_THAT(registry.add("", curve).error().message, HasSubstr("1 to 64"));
  EXPECT_THAT(registry.add("my curve", curve).error().message, HasSubstr("1 to 64"));
  EXPECT_THAT(registry.add("empty", nullptr).error().message, HasSubstr("has no curve"));
}

TEST(Backoff, AnUnknownStrategyIsAnsweredWithTheKnownOnes) {
  const Result<Backoff> backoff = Backoff::make(BackoffRegistry(), {.strategy = "exponental"});

  ASSERT_FALSE(backoff);
  EXPECT_EQ(
      backoff.error().message,
      "backoff.strategy must be one of exponential, fixed, linear, message, not \"exponental\"");
}

TEST(BackoffSettings, BadOnesAreRefusedByNameAndRange) {
  const Result<> result =
      validate(BackoffSettings{.base = -1s, .min = 10s, .max = 5s, .jitter_ratio = 3});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "backoff.base must be between 1ms and 365d, not -1s; "
            "backoff.min (10s) must not be more than backoff.max (5s); "
            "backoff.jitter_ratio must be between 0 and 1, not 3");
}

TEST(Jitter, EveryNameParsesBack) {
  for (const Jitter jitter : kAllJitters)
    EXPECT_EQ(find_named(kAllJitters, to_string(jitter)), jitter);
}

rc::Gen<BackoffSettings> any_settings() {
  const auto up_to = [](std::int64_t ms) {
    return rc::gen::map(rc::gen::inRange<std::int64_t>(1, ms),
                        [](auto n) { return Duration(n * 1ms); });
  };
  return rc::gen::apply(
      [](std::string strategy, Duration base, Duration a, Duration b, Jitter jitter, int percent) {
        return BackoffSettings{.strategy = std::move(strategy),
                               .base = base,
                               .min = std::min(a, b),
                               .max = std::max(a, b),
                               .jitter = jitter,
                               .jitter_ratio = percent / 100.0};
      },
      rc::gen::element<std::string>("fixed", "linear", "exponential", "message"), up_to(1'000'000),
      up_to(1'000'000), up_to(31'536'000'000), rc::gen::elementOf(kAllJitters),
      rc::gen::inRange(0, 101));
}

RC_GTEST_PROP(Backoff, IsAlwaysWithinItsBoundsAndMonotoneBeforeJitter, (std::uint64_t seed)) {
  const BackoffSettings settings = *any_settings();
  const Backoff backoff = make(settings);
  Rng rng(seed);
  Duration last = Duration::zero();

  for (const int retry : {-5, 0, 1, 2, 3, 10, 62, 63, 64, 1'000, 1'000'000, INT32_MAX}) {
    RC_ASSERT(backoff.before_jitter(retry) >= last);
    last = backoff.before_jitter(retry);
    const Duration delay = backoff.delay(retry, rng);
    RC_ASSERT(delay >= settings.min);
    RC_ASSERT(delay <= settings.max);
  }
}

RC_GTEST_PROP(Backoff, JitterStaysWithinItsOwnReach, (std::uint64_t seed)) {
  BackoffSettings settings = *any_settings();
  settings.min = 0s;
  const Backoff backoff = make(settings);
  Rng rng(seed);
  const Duration centre = backoff.before_jitter(3);
  const auto microseconds = static_cast<double>(centre.count());

  const auto delay = static_cast<double>(backoff.delay(3, rng).count());

  if (settings.strategy == "message" || settings.jitter == Jitter::kNone) {
    RC_ASSERT(delay == microseconds);
  } else if (settings.jitter == Jitter::kRatio) {
    RC_ASSERT(delay >= microseconds * (1 - settings.jitter_ratio) - 1);
    RC_ASSERT(delay <= microseconds * (1 + settings.jitter_ratio) + 1);
  } else {
    RC_ASSERT(delay <= microseconds);
    if (settings.jitter == Jitter::kEqual) RC_ASSERT(delay >= microseconds / 2 - 1);
  }
}

TEST(Backoff, LessThanTheFirstRetryCountsAsTheFirst) {
  const Backoff backoff = make({.strategy = "linear", .min = 0s});

  EXPECT_EQ(backoff.before_jitter(0), 1s);
  EXPECT_EQ(backoff.before_jitter(-5), 1s);
}

TEST(Backoff, ANameMayHaveSixtyFourOfAllThatIsAllowed) {
  BackoffRegistry registry;
  const Curve curve = [](Duration base, int) { return base; };

  EXPECT_TRUE(registry.add("aZ09-_." + std::string(57, 'x'), curve));
  EXPECT_FALSE(registry.add(std::string(65, 'x'), curve));
}

TEST(Backoff, JitterUsesAllOfItsReach) {
  const auto reach = [](Jitter jitter) {
    const Backoff backoff = make({.base = 100s, .min = 0s, .jitter = jitter});
    Rng rng(1);
    std::vector<Duration> delays;
    for (int i = 0; i < 1'000; ++i) delays.push_back(backoff.delay(1, rng));
    return std::pair(std::ranges::min(delays), std::ranges::max(delays));
  };

  const auto [ratio_low, ratio_high] = reach(Jitter::kRatio);
  const auto [equal_low, equal_high] = reach(Jitter::kEqual);
  const auto [full_low, full_high] = reach(Jitter::kFull);

  EXPECT_LT(ratio_low, 81s);
  EXPECT_GT(ratio_high, 119s);
  EXPECT_LT(equal_low, 51s);
  EXPECT_GT(equal_high, 99s);
  EXPECT_LT(full_low, 1s);
  EXPECT_GT(full_high, 99s);
}

TEST(Backoff, ACrowdThatWaitsTheLongestIsSpreadToo) {
  const Backoff backoff = make({});
  Rng rng(1);
  int at_the_maximum = 0;

  for (int i = 0; i < 1'000; ++i) at_the_maximum += backoff.delay(20, rng) == 300s ? 1 : 0;

  EXPECT_LT(at_the_maximum, 10);
}

TEST(Backoff, AUsersOwnCurveIsSpreadToo) {
  BackoffRegistry registry;
  ASSERT_TRUE(registry.add("own", [](Duration base, int) { return base; }));
  const Backoff backoff = Backoff::make(registry, {.strategy = "own"}).value();
  Rng rng(1);

  EXPECT_NE(backoff.delay(1, rng), backoff.delay(1, rng));
}

TEST(BackoffSettings, ALongestWaitOfNothingIsRefused) {
  EXPECT_EQ(validate(BackoffSettings{.min = 0s, .max = 0s}).error().message,
            "backoff.max must be between 1ms and 365d, not 0s");
}

}  // namespace
}  // namespace recourse::policy
