#include "policy/circuit_breaker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

#include "base/named.h"
#include "policy/test_moments.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;

constexpr CallResult kWell{.failed = false, .took = std::chrono::milliseconds(10)};
constexpr CallResult kBadly{.failed = true, .took = std::chrono::milliseconds(10)};
constexpr BreakerChange kOpening{BreakerState::kClosed, BreakerState::kOpen};

std::optional<BreakerChange> call(CircuitBreaker& breaker, CallResult result, TimePoint now) {
  const std::optional<Permit> permit = breaker.acquire(now);
  return permit ? breaker.record(*permit, result, now) : std::nullopt;
}

CircuitBreaker opened(const BreakerSettings& settings) {
  CircuitBreaker breaker(settings);
  while (breaker.state() == BreakerState::kClosed) call(breaker, kBadly, kStart);
  return breaker;
}

TEST(CircuitBreaker, OpensWhenHalfOfEnoughCallsFailed) {  // LOAD-2
  CircuitBreaker breaker({});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(call(breaker, kWell, kStart), std::nullopt);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(call(breaker, kBadly, kStart), std::nullopt) << "too few calls";

  EXPECT_EQ(call(breaker, kBadly, kStart), kOpening);

  EXPECT_EQ(breaker.acquire(kStart + 29s).has_value(), false);
  EXPECT_EQ(breaker.probes_at(), kStart + 30s);
}

TEST(CircuitBreaker, OnlyTheLastCallsCount) {
  CircuitBreaker breaker({.window_calls = 10, .min_calls = 10});
  for (int i = 0; i < 4; ++i) call(breaker, kBadly, kStart);
  for (int i = 0; i < 10; ++i) call(breaker, kWell, kStart);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(call(breaker, kBadly, kStart), std::nullopt);

  EXPECT_EQ(call(breaker, kBadly, kStart), kOpening);
}

TEST(CircuitBreaker, InATimeWindowOnlyRecentCallsCount) {
  CircuitBreaker breaker({.window_type = WindowType::kTime, .window_time = 10s, .min_calls = 4});
  for (int i = 0; i < 3; ++i) call(breaker, kBadly, kStart);

  EXPECT_EQ(call(breaker, kBadly, kStart + 20s), std::nullopt) << "the first three are forgotten";

  for (int i = 0; i < 2; ++i) call(breaker, kBadly, kStart + 21s);
  EXPECT_EQ(call(breaker, kBadly, kStart + 22s), kOpening);
}

TEST(CircuitBreaker, SlowCallsOpenItToo) {
  CircuitBreaker breaker({.min_calls = 4, .slow_call = 1s, .slow_ratio = 0.5});
  call(breaker, kWell, kStart);
  call(breaker, kWell, kStart);
  call(breaker, {.failed = false, .took = 1s}, kStart);
  call(breaker, {.failed = false, .took = 1001ms}, kStart);

  EXPECT_EQ(breaker.state(), BreakerState::kClosed) << "one slow of four";
  EXPECT_EQ(call(breaker, {.failed = false, .took = 2s}, kStart), std::nullopt) << "two of five";
  EXPECT_EQ(call(breaker, {.failed = false, .took = 2s}, kStart), kOpening) << "three of six";
}

TEST(CircuitBreaker, ClosesByItselfWhenTheProbesGoWell) {
  CircuitBreaker breaker = opened({});
  const TimePoint later = kStart + 30s;

  EXPECT_EQ(call(breaker, kWell, later), std::nullopt);
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  EXPECT_EQ(call(breaker, kWell, later), std::nullopt);
  EXPECT_EQ(call(breaker, kWell, later),
            (BreakerChange{BreakerState::kHalfOpen, BreakerState::kClosed}))
      << "three of five are well: the other two cannot make it half";

  EXPECT_EQ(call(breaker, kBadly, later), std::nullopt) << "it starts with a clean window";
}

TEST(CircuitBreaker, OpensAgainWhenTheProbesGoBadly) {
  CircuitBreaker breaker = opened({});
  const TimePoint later = kStart + 30s;
  call(breaker, kBadly, later);
  call(breaker, kBadly, later);

  EXPECT_EQ(call(breaker, kBadly, later),
            (BreakerChange{BreakerState::kHalfOpen, BreakerState::kOpen}));

  EXPECT_EQ(breaker.probes_at(), later + 30s);
}

TEST(CircuitBreaker, AnAbandonedProbeMayBeMadeByAnother) {
  CircuitBreaker breaker = opened({.probes = 1});
  const TimePoint later = kStart + 30s;
  const std::optional<Permit> probe = breaker.acquire(later);
  ASSERT_FALSE(breaker.acquire(later));

  breaker.abandon(*probe);

  EXPECT_TRUE(breaker.acquire(later));
}

TEST(CircuitBreaker, ACallFromBeforeItOpenedIsNoProbe) {
  CircuitBreaker breaker({.min_calls = 1, .probes = 1});
  const std::optional<Permit> old = breaker.acquire(kStart);
  call(breaker, kBadly, kStart);
  ASSERT_TRUE(breaker.acquire(kStart + 30s));

  EXPECT_EQ(breaker.record(*old, kWell, kStart + 31s), std::nullopt);

  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
}

TEST(BreakerSettings, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(
      validate(BreakerSettings{.window_calls = 0, .min_calls = 1}).error().message,
      "breaker.window_calls must be between 1 and 10000, not 0; "
      "breaker.min_calls (1) must not be more than breaker.window_calls (0), or it never opens");
  EXPECT_EQ(validate(BreakerSettings{.failure_ratio = 1.5}).error().message,
            "breaker.failure_ratio must be between 0.01 and 1, not 1.5");
  EXPECT_EQ(validate(BreakerSettings{.open_for = -1s}).error().message,
            "breaker.open_for must be between 1ms and 1d, not -1s");
  EXPECT_TRUE(validate(BreakerSettings{}));
}

TEST(BreakerSettings, EveryWindowTypesNameParsesBack) {
  for (const WindowType type : kAllWindowTypes) {
    EXPECT_EQ(find_named(kAllWindowTypes, to_string(type)), type);
  }
}

enum class Step : std::uint8_t { kAcquire, kGood, kBad, kAbandon, kWait };

// A breaker, the permits that are out, and how many probes this half-open period has had.
struct Probing {
  explicit Probing(const BreakerSettings& settings) : breaker(settings) {}

  void acquire() {
    const BreakerState before = breaker.state();
    const bool shut = before == BreakerState::kOpen && now < *breaker.probes_at();
    const std::optional<Permit> permit = breaker.acquire(now);
    if (permit) RC_ASSERT(!shut);
    if (breaker.state() == BreakerState::kClosed) RC_ASSERT(permit.has_value());
    if (!permit) return;
    out.push_back(*permit);
    if (breaker.state() != BreakerState::kHalfOpen) return;
    probes = permit->period == period ? probes + 1 : 1;
    period = permit->period;
  }

  void answer(Step step, std::size_t which) {
    if (out.empty()) return;
    std::swap(out[which % out.size()], out.back());
    const Permit permit = out.back();
    out.pop_back();
    const BreakerState before = breaker.state();
    if (step == Step::kAbandon) {
      breaker.abandon(permit);
      if (permit.period == period) --probes;
      return;
    }
    const auto change = breaker.record(permit, step == Step::kGood ? kWell : kBadly, now);
    RC_ASSERT(change.has_value() == (before != breaker.state()));
    if (change) RC_ASSERT(change->from == before);
  }

  CircuitBreaker breaker;
  TimePoint now = kStart;
  std::vector<Permit> out;
  std::uint64_t period = 0;  // the latest half-open one
  int probes = 0;            // permitted in it and not abandoned
};

RC_GTEST_PROP(CircuitBreaker, NeverLetsMoreThanItsProbesThrough, ()) {
  const int probes = *rc::gen::inRange(1, 6);
  const auto type = *rc::gen::elementOf(kAllWindowTypes);
  const auto steps =
      *rc::gen::container<std::vector<Step>>(rc::gen::weightedElement<Step>({{6, Step::kAcquire},
                                                                             {2, Step::kGood},
                                                                             {3, Step::kBad},
                                                                             {1, Step::kAbandon},
                                                                             {2, Step::kWait}}));
  Probing probing({.window_type = type, .window_calls = 5, .min_calls = 2, .probes = probes});

  for (const Step step : steps) {
    if (step == Step::kWait) probing.now += 15s;
    if (step == Step::kAcquire) probing.acquire();
    if (step != Step::kWait && step != Step::kAcquire) {
      probing.answer(step, *rc::gen::inRange<std::size_t>(0, 10));
    }
    RC_ASSERT(probing.probes <= probes);
  }
}

TEST(CircuitBreaker, EveryHalfOpenPeriodCountsItsProbesAfresh) {
  CircuitBreaker breaker = opened({});
  for (const CallResult result : {kWell, kWell, kBadly, kBadly, kBadly}) {
    call(breaker, result, kStart + 30s);
  }
  ASSERT_EQ(breaker.state(), BreakerState::kOpen);
  const TimePoint later = kStart + 60s;

  EXPECT_EQ(call(breaker, kWell, later), std::nullopt);
  EXPECT_EQ(call(breaker, kWell, later), std::nullopt);

  EXPECT_EQ(call(breaker, kWell, later),
            (BreakerChange{BreakerState::kHalfOpen, BreakerState::kClosed}));
}

TEST(CircuitBreaker, AbandoningACallFromBeforeItOpenedFreesNoProbe) {
  CircuitBreaker breaker({.min_calls = 1, .probes = 1});
  const std::optional<Permit> old = breaker.acquire(kStart);
  call(breaker, kBadly, kStart);
  ASSERT_TRUE(breaker.acquire(kStart + 30s));

  breaker.abandon(*old);

  EXPECT_FALSE(breaker.acquire(kStart + 30s));
}

TEST(CircuitBreaker, HalfOfTheProbesIsAlreadyTooMuch) {
  const TimePoint later = kStart + 30s;
  CircuitBreaker breaker = opened({.probes = 4});
  call(breaker, kWell, later);
  EXPECT_EQ(call(breaker, kWell, later), std::nullopt) << "the other two could still make it half";
  call(breaker, kBadly, later);

  EXPECT_EQ(call(breaker, kBadly, later),
            (BreakerChange{BreakerState::kHalfOpen, BreakerState::kOpen}));
}

TEST(CircuitBreaker, ASlowProbeWentBadly) {
  CircuitBreaker breaker = opened({.slow_call = 1s, .probes = 1});

  call(breaker, {.failed = false, .took = 2s}, kStart + 30s);

  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
}

TEST(BreakerSettings, ATimeWindowIsNotBoundedByTheCountWindowsSize) {
  EXPECT_TRUE(validate(
      BreakerSettings{.window_type = WindowType::kTime, .window_calls = 10, .min_calls = 20}));
}

}  // namespace
}  // namespace recourse::policy
