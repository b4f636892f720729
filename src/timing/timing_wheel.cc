#include "timing/timing_wheel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/invariant.h"
#include "timing/due_order.h"

namespace recourse::timing {
namespace {

// The longest time there is, in ticks of the shortest length allowed, fits these.
constexpr unsigned kTickBits = 54;

}  // namespace

TimingWheel::TimingWheel(TimePoint start, const WheelSettings& settings)
    : start_(start),
      tick_(settings.tick),
      max_pending_(settings.max_pending),
      digit_bits_(static_cast<unsigned>(std::bit_width(std::bit_ceil(settings.slots)) - 1)),
      now_(start),
      overdue_(std::numeric_limits<std::size_t>::max(), 0) {
  invariant(validate(settings).has_value(), "wheel settings are validated before they get here");
  invariant(start >= TimePoint(), "a wheel starts after 1970");
  const std::size_t slots = std::size_t{1} << digit_bits_;
  levels_.resize((kTickBits + digit_bits_ - 1) / digit_bits_);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    levels_[level].slots.reserve(slots);
    for (std::size_t index = 0; index < slots; ++index) levels_[level].slots.emplace_back(level, index);
  }
}

TimingWheel::~TimingWheel() {
  overdue_.drain_into(firing_, pool_);
  for (Level& level : levels_) {
    for (Slot& slot : level.slots) slot.drain_into(firing_, pool_);
  }
  for (const Entry& entry : firing_) entry.timer->place_ = Timer::Place::kNowhere;
}

bool TimingWheel::schedule(Timer& timer, TimePoint due) {
  if (timer.waiting()) {
    cancel(timer);
  } else if (pending_ == max_pending_) {
    return false;
  }
  ++pending_;
  if (due <= now_) {
    overdue_.add({due, &timer}, pool_);
  } else {
    place({due, &timer});
  }
  return true;
}

bool TimingWheel::cancel(Timer& timer) {
  if (!timer.waiting()) return false;
  --pending_;
  if (timer.place_ == Timer::Place::kFiring) {
    firing_[timer.index_].timer = nullptr;
    timer.place_ = Timer::Place::kNowhere;
    return true;
  }
  Slot& slot = *timer.block_->slot;
  slot.remove(timer, pool_);
  if (slot.empty() && &slot != &overdue_) mark_empty(slot);
  return true;
}

void TimingWheel::advance_to(TimePoint now, FunctionRef<void(Timer&)> fire) {
  invariant(firing_.empty(), "advance_to is not called from the timers it fires");
  now_ = std::max(now_, now);
  const auto last = static_cast<Tick>((now_ - start_) / tick_);

  // What was overdue may lie within the first tick's time, so those two are put in order together.
  overdue_.drain_into(firing_, pool_);
  bool more = true;
  while (more) {
    more = collect_tick(last);
    yield(fire);
  }
  position_ = last;
}

// Moves the position to the next tick that holds a timer, if that is not after `last`, and takes the
// timers out.
bool TimingWheel::collect_tick(Tick last) {
  while (occupied_levels_ != 0) {
    const Slot& next = first_slot();
    const Tick tick = first_tick(next.level(), next.index());
    if (tick > last) return false;

    position_ = tick;
    Slot& slot = levels_[next.level()].slots[next.index()];
    mark_empty(slot);
    if (slot.level() == 0) {
      slot.drain_into(firing_, pool_);
      return true;
    }
    slot.drain_into(moving_, pool_);
    for (const Entry& entry : moving_) place(entry);
    moving_.clear();
  }
  return false;
}

void TimingWheel::yield(FunctionRef<void(Timer&)> fire) {
  sort_by_due(firing_, scratch_);
  // All first: one that fires may cancel any other of them.
  for (std::size_t i = 0; i < firing_.size(); ++i) {
    firing_[i].timer->index_ = static_cast<std::uint32_t>(i);
    firing_[i].timer->place_ = Timer::Place::kFiring;
  }
  for (std::size_t i = 0; i < firing_.size(); ++i) {
    Timer* const timer = firing_[i].timer;
    if (timer == nullptr) continue;  // cancelled by one before it
    timer->place_ = Timer::Place::kNowhere;
    --pending_;
    fire(*timer);
  }
  firing_.clear();
}

std::optional<TimePoint> TimingWheel::next_wakeup() const {
  if (!overdue_.empty()) return now_;
  if (occupied_levels_ == 0) return std::nullopt;
  const Slot& slot = first_slot();
  return end_of(slot.level() == 0 ? first_tick(0, slot.index()) : tick_of(slot.earliest()));
}

void TimingWheel::place(Entry entry) {
  const Tick tick = tick_of(entry.due);
  const auto highest_bit = static_cast<unsigned>(std::bit_width((tick ^ position_) | 1) - 1);
  const unsigned level = highest_bit / digit_bits_;
  const std::size_t index = tick >> (level * digit_bits_) & ((Tick{1} << digit_bits_) - 1);
  levels_[level].slots[index].add(entry, pool_);
  levels_[level].occupied.set(index);
  occupied_levels_ |= std::uint64_t{1} << level;
}

void TimingWheel::mark_empty(const Slot& slot) {
  Occupancy& occupied = levels_[slot.level()].occupied;
  occupied.clear(slot.index());
  if (!occupied.any()) occupied_levels_ &= ~(std::uint64_t{1} << slot.level());
}

// The tick at whose end the time has come: rounded up, never early.
TimingWheel::Tick TimingWheel::tick_of(TimePoint due) const {
  return 1 + static_cast<Tick>((due - start_).count() - 1) / static_cast<Tick>(tick_.count());
}

TimePoint TimingWheel::end_of(Tick tick) const {
  return saturating_add(start_, saturating_multiply(tick_, static_cast<Duration::rep>(tick)));
}

TimingWheel::Tick TimingWheel::first_tick(std::size_t level, std::size_t index) const {
  const std::size_t shift = level * digit_bits_;
  const Tick above = position_ >> (shift + digit_bits_) << (shift + digit_bits_);
  return above | static_cast<Tick>(index) << shift;
}

const Slot& TimingWheel::first_slot() const {
  const Level& level = levels_[static_cast<std::size_t>(std::countr_zero(occupied_levels_))];
  return level.slots[level.occupied.first()];
}

}  // namespace recourse::timing
