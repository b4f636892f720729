// Yields the timers that are due, earliest first, without looking at those that are not.
//
// The wheel is hierarchical. Time is counted in ticks from the start. Level 0 has a slot for each
// tick that shares all but its lowest digit (in base `slots`) with the wheel's position; level 1 a
// slot for each run of `slots` ticks that shares all but its two lowest digits, and so on: a timer
// lies on the level of the highest digit in which its tick differs from the position. Hence
// everything on a lower level comes before everything on a higher one, and within a level slots
// come in order of their index. When the position reaches a slot of a higher level, its timers move
// down; each moves at most once per level, and mostly not at all. One bit per slot says whether it
// holds anything, so empty ticks cost nothing however many there are: the wheel jumps, it does not
// turn.
//
// It is a cache over the store and never the truth: drop it and the engine fills it again. It reads
// no clock and owns no thread.
//
// Invariants
//   1. A timer is in at most one place.
//   2. No timer is yielded before it is due; none later than one tick after, if advance_to is
//   called
//      when next_wakeup says.
//   3. Those yielded by one call of advance_to come in order of their due times.
//   4. Time never goes backwards: an earlier `now` counts as the latest one seen.
//   5. Nothing is allocated once as many timers have waited, and as many been due in one tick,
//   before. A
//      waiting timer costs 33 bytes, itself included; while many of one tick fire, each up to 48
//      more.
//
// Thread safety: none; the engine's core owns it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "base/time.h"
#include "timing/occupancy.h"
#include "timing/slot.h"
#include "timing/timer.h"
#include "timing/wheel_settings.h"

namespace recourse::timing {

class TimingWheel {
 public:
  // The settings must be valid, and `start` not before 1970.
  TimingWheel(TimePoint start, const WheelSettings& settings);
  // Lets go of the timers that still wait.
  ~TimingWheel();
  TimingWheel(const TimingWheel&) = delete;
  TimingWheel& operator=(const TimingWheel&) = delete;

  // O(1). Moves the timer when it waits already. False when `max_pending` others wait: nothing
  // changed.
  [[nodiscard]] bool schedule(Timer& timer, TimePoint due);
  // O(1). False when it was not waiting.
  bool cancel(Timer& timer);

  // Calls `fire` for each timer that is due, earliest first. `fire` may schedule and cancel any
  // timer, and must not throw; what it schedules for `now` or before is yielded by the next call.
  void advance_to(TimePoint now, FunctionRef<void(Timer&)> fire);

  // The very moment at which advance_to will next yield something; empty when nothing waits. O(1),
  // but for a call after the earliest of all was cancelled while it lay on a higher level, which
  // looks through that timer's slot.
  [[nodiscard]] std::optional<TimePoint> next_wakeup() const;

  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  // Ticks since start_: tick n ends at start_ + n * tick_.
  using Tick = std::uint64_t;

  // Where a slot lies. Its number is `level << digit_bits_ | index`.
  struct Coordinates {
    std::size_t level;
    std::size_t index;
  };

  // The digit of a tick that a bit belongs to.
  struct Digit {
    std::uint16_t first_slot;  // of the digit's level
    std::uint16_t shift;       // its lowest bit
  };

  [[nodiscard]] Tick tick_of(TimePoint due) const;
  [[nodiscard]] TimePoint end_of(Tick tick) const;
  [[nodiscard]] Tick first_tick(Coordinates at) const;
  [[nodiscard]] Coordinates first_occupied() const;
  [[nodiscard]] Coordinates coordinates_of(std::size_t number) const {
    return {number >> digit_bits_, number & digit_mask_};
  }
  [[nodiscard]] std::size_t number_of(Coordinates at) const {
    return at.level << digit_bits_ | at.index;
  }

  void place(Entry entry);
  void mark_empty(Coordinates at);
  bool collect_tick(Tick last);
  void yield(FunctionRef<void(Timer&)> fire);

  Slot& overdue() { return slots_.back(); }
  [[nodiscard]] const Slot& overdue() const { return slots_.back(); }

  const TimePoint start_;
  const std::uint64_t tick_;        // in microseconds
  const std::uint64_t reciprocal_;  // of the tick, in 1/2^64
  const std::size_t max_pending_;
  const unsigned digit_bits_;
  const std::uint64_t digit_mask_;
  std::array<Digit, 64> digit_of_bit_;

  TimePoint now_;
  Tick position_ = 0;  // every tick up to it has been yielded
  std::size_t pending_ = 0;

  BlockPool pool_;
  // By number; the last is for what is due when it is scheduled and waits for the next advance_to.
  std::vector<Slot> slots_;
  std::vector<Occupancy> occupied_;    // one per level
  std::uint64_t occupied_levels_ = 0;  // one bit each

  std::vector<Entry> firing_;   // empty but during advance_to
  std::vector<Entry> scratch_;  // memory kept between calls
};

}  // namespace recourse::timing
