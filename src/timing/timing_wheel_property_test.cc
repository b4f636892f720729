// Any sequence of schedule, cancel, move and advance, held against a sorted list that cannot be
// wrong.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/rng.h"
#include "timing/due_order.h"
#include "timing/timing_wheel.h"

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;

const TimePoint kBegin{1'000s};

enum class Do : std::uint8_t { kSchedule, kCancel, kAdvance, kAdvanceAndMeddle, kSleep };

struct Step {
  Do what;
  std::size_t timer;
  Duration time;
};

// Between `low` and `high` units.
rc::Gen<Duration> delay_of(Duration unit, std::int64_t low, std::int64_t high) {
  return rc::gen::map(rc::gen::inRange(low, high), [unit](std::int64_t n) { return n * unit; });
}

// Mostly near, sometimes far: every level is reached, and so are the borders between them.
rc::Gen<Duration> any_delay() {
  return rc::gen::weightedOneOf<Duration>({{4, delay_of(1us, -50'000, 500'000)},
                                           {2, delay_of(100ms, 0, 200)},
                                           {2, delay_of(1ms, 0, 100'000)},
                                           {1, delay_of(1s, 0, 10'000'000)}});
}

rc::Gen<Step> any_step(std::size_t timers) {
  return rc::gen::construct<Step>(rc::gen::weightedElement<Do>({{6, Do::kSchedule},
                                                                {2, Do::kCancel},
                                                                {1, Do::kAdvance},
                                                                {2, Do::kAdvanceAndMeddle},
                                                                {2, Do::kSleep}}),
                                  rc::gen::inRange<std::size_t>(0, timers), any_delay());
}

struct Numbered : Timer {
  std::size_t number = 0;
};

// The wheel, and what it should hold.
struct Bench {
  Bench(std::size_t count, const WheelSettings& wheel_settings)
      : settings(wheel_settings), timers(count), wheel(kBegin, settings) {
    for (std::size_t i = 0; i < count; ++i) timers[i].number = i;
  }

  void schedule(std::size_t timer, TimePoint due) {
    const bool fits = model.contains(timer) || model.size() < settings.max_pending;
    RC_ASSERT(wheel.schedule(timers[timer], due) == fits);
    if (fits) model[timer] = due;
  }

  void cancel(std::size_t timer) {
    RC_ASSERT(wheel.cancel(timers[timer]) == (model.erase(timer) == 1));
  }

  // With an Rng, every timer that fires schedules one and cancels another.
  void advance(TimePoint to, Rng* meddling = nullptr) {
    now = std::max(now, to);
    TimePoint last = TimePoint::min();
    std::set<std::size_t> for_the_next_call;
    wheel.advance_to(to, [&](Timer& timer) {
      const std::size_t number = static_cast<Numbered&>(timer).number;
      const auto held = model.find(number);
      RC_ASSERT(held != model.end());  // neither lost before nor doubled
      RC_ASSERT(!for_the_next_call.contains(number));
      RC_ASSERT(held->second <= now);   // not early
      RC_ASSERT(held->second >= last);  // in order
      last = held->second;
      model.erase(held);
      if (meddling == nullptr) return;
      const std::size_t moved = meddling->between(0, timers.size() - 1);
      schedule(moved, now + meddling->between(Duration(-1s), Duration(60s)));
      for_the_next_call.insert(moved);
      cancel(meddling->between(0, timers.size() - 1));
    });
    for (const auto& [timer, due] : model) {  // at most a tick late
      if (!for_the_next_call.contains(timer)) RC_ASSERT(due > now - settings.tick);
    }
  }

  // The end of the tick that the earliest falls into, or at once where it was overdue when
  // scheduled.
  void check_wakeup() {
    RC_ASSERT(wheel.pending() == model.size());
    const std::optional<TimePoint> wakeup = wheel.next_wakeup();
    RC_ASSERT(wakeup.has_value() == !model.empty());
    if (!wakeup) return;
    const TimePoint earliest =
        std::ranges::min_element(model, {}, [](auto& e) { return e.second; })->second;
    RC_ASSERT(*wakeup >= std::min(earliest, now));
    RC_ASSERT(*wakeup < std::max(earliest, now) + settings.tick);
  }

  WheelSettings settings;
  std::vector<Numbered> timers;
  std::map<std::size_t, TimePoint> model;
  TimePoint now = kBegin;
  TimingWheel wheel;
};

// What the engine does: sleep until the wheel says, and find something due then and not before.
void sleep_until_wakeup(Bench& bench) {
  const std::optional<TimePoint> wakeup = bench.wheel.next_wakeup();
  if (!wakeup) return;
  const std::size_t before = bench.model.size();
  if (*wakeup > bench.now + 1us) {
    bench.advance(*wakeup - 1us);
    RC_ASSERT(bench.model.size() == before);
  }
  bench.advance(*wakeup);
  RC_ASSERT(bench.model.size() < before);
}

void run(const std::vector<Step>& steps, std::size_t timers, const WheelSettings& settings) {
  Bench bench(timers, settings);
  Rng rng(steps.size());
  for (const Step& step : steps) {
    switch (step.what) {
      case Do::kSchedule: bench.schedule(step.timer, bench.now + step.time); break;
      case Do::kCancel: bench.cancel(step.timer); break;
      case Do::kAdvance: bench.advance(bench.now + step.time); break;
      case Do::kAdvanceAndMeddle: bench.advance(bench.now + step.time, &rng); break;
      case Do::kSleep: sleep_until_wakeup(bench); break;
    }
    bench.check_wakeup();
  }
}

RC_GTEST_PROP(TimingWheel, NoTimerIsEarlyLateLostOrDoubled, ()) {
  const auto steps = *rc::gen::container<std::vector<Step>>(any_step(20));
  const WheelSettings settings{.tick = *rc::gen::element<Duration>(1ms, 100ms, 1s),
                               .slots = *rc::gen::element<std::size_t>(2, 3, 16, 512, 4096),
                               .max_pending = *rc::gen::element<std::size_t>(15, 1'000)};

  run(steps, 20, settings);
}

RC_GTEST_PROP(TimingWheel, CrowdedSlotsKeepEveryTimer, ()) {
  Bench bench(200, {.tick = 100ms, .slots = 4, .max_pending = 1'000});
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());

  for (int round = 0; round < 8; ++round) {
    for (std::size_t i = 0; i < 200; ++i) {
      if (rng.between(0, 3) == 0) {
        bench.cancel(i);
      } else {
        bench.schedule(i, bench.now + rng.between(Duration(0), Duration(2s)));
      }
    }
    bench.check_wakeup();
    bench.advance(bench.now + rng.between(Duration(0), Duration(1s)), &rng);
    bench.check_wakeup();
  }
}

// Few timers, so that often nothing but an overdue one fires on the way across a level's border.
RC_GTEST_PROP(TimingWheel, LonelyTimersKeepTheirOrderAcrossLevels, ()) {
  Bench bench(4, {.tick = 100ms, .slots = 2, .max_pending = 1'000});
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());

  for (int round = 0; round < 50; ++round) {
    bench.schedule(rng.between(0, 3), bench.now + rng.between(Duration(-200ms), Duration(1s)));
    bench.advance(bench.now + rng.between(Duration(0), Duration(500ms)), &rng);
    bench.check_wakeup();
  }
}

RC_GTEST_PROP(DueOrder, SortsLikeTheStandardLibrary, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 300);
  const auto widest = *rc::gen::element<std::int64_t>(1, 1'000, 1'000'000'000'000, INT64_MAX);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const auto due = *rc::gen::arbitrary<std::int64_t>() % widest;
    entries.push_back({TimePoint(Duration(due)), nullptr});
  }
  std::vector<TimePoint> expected;
  for (const Entry& entry : entries) expected.push_back(entry.due);
  std::ranges::sort(expected);
  std::vector<Entry> scratch;

  sort_by_due(entries, scratch);

  RC_ASSERT(std::ranges::equal(entries, expected, {}, &Entry::due));
}

}  // namespace
}  // namespace recourse::timing
