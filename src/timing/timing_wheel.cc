#include "timing/timing_wheel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/field_checks.h"
#include "base/invariant.h"
#include "timing/due_order.h"

namespace recourse::timing {
namespace {

// The longest time there is, in ticks of the shortest length allowed, fits these.
constexpr unsigned kTickBits = 54;

// Timers lie anywhere in memory; asking for one a few turns early hides most of the wait for it.
void fetch_ahead(const std::vector<Entry>& entries, std::size_t i) {
  constexpr std::size_t kAhead = 16;
  if (i + kAhead < entries.size()) __builtin_prefetch(entries[i + kAhead].timer, 1);
}

}  // namespace

TimingWheel::TimingWheel(TimePoint start, const WheelSettings& settings)
    : start_(start),
      tick_(static_cast<std::uint64_t>(checked(settings).tick.count())),
      reciprocal_(std::numeric_limits<std::uint64_t>::max() / tick_),
      max_pending_(settings.max_pending),
      digit_bits_(static_cast<unsigned>(std::bit_width(std::bit_ceil(settings.slots)) - 1)),
      digit_mask_((std::uint64_t{1} << digit_bits_) - 1),
      now_(start) {
  invariant(start >= TimePoint(), "a wheel starts after 1970");
  for (unsigned bit = 0; bit < digit_of_bit_.size(); ++bit) {
    const unsigned level = bit / digit_bits_;
    digit_of_bit_[bit] = {static_cast<std::uint16_t>(level << digit_bits_),
                          static_cast<std::uint16_t>(level * digit_bits_)};
  }
  occupied_.resize((kTickBits + digit_bits_ - 1) / digit_bits_);
  const std::size_t count = (occupied_.size() << digit_bits_) + 1;
  slots_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) slots_.emplace_back(static_cast<std::uint32_t>(i));
}

TimingWheel::~TimingWheel() {
  for (Slot& slot : slots_) slot.drain_into(firing_, pool_);
  for (const Entry& entry : firing_) entry.timer->block_ = nullptr;
}

// The tick at whose end the time has come: rounded up, never early. A division by multiplication,
// because every timer pays for it: the estimate is the quotient or one less.
inline TimingWheel::Tick TimingWheel::tick_of(TimePoint due) const {
  const auto before = static_cast<std::uint64_t>((due - start_).count()) - 1;
  __extension__ using Wide = unsigned __int128;
  const auto estimate = static_cast<Tick>(Wide{before} * reciprocal_ >> 64);
  return estimate + (before - estimate * tick_ >= tick_ ? 2 : 1);
}

inline void TimingWheel::place(Entry entry) {
  const Tick tick = tick_of(entry.due);
  // With no bit different it is the lowest digit's slot all the same.
  const int highest_bit = 63 - std::countl_zero((tick ^ position_) | 1);
  const Digit digit = digit_of_bit_[static_cast<std::size_t>(highest_bit)];
  const std::size_t number = digit.first_slot + (tick >> digit.shift & digit_mask_);
  Slot& slot = slots_[number];
  if (slot.empty()) {
    const Coordinates at = coordinates_of(number);
    occupied_[at.level].set(at.index);
    occupied_levels_ |= std::uint64_t{1} << at.level;
  }
  slot.add(entry, pool_);
}

bool TimingWheel::schedule(Timer& timer, TimePoint due) {
  if (timer.waiting()) {
    cancel(timer);
  } else if (pending_ == max_pending_) {
    return false;
  }
  ++pending_;
  if (due <= now_) {
    overdue().add({due, &timer}, pool_);
  } else {
    place({due, &timer});
  }
  return true;
}

bool TimingWheel::cancel(Timer& timer) {
  if (!timer.waiting()) return false;
  --pending_;
  if (timer.slot_ == Timer::kFiring) {
    firing_[timer.index_].timer = nullptr;
    timer.block_ = nullptr;
    return true;
  }
  Slot& slot = slots_[timer.slot_];
  slot.remove(timer, pool_);
  if (slot.empty() && &slot != &overdue()) mark_empty(coordinates_of(timer.slot_));
  return true;
}

void TimingWheel::advance_to(TimePoint now, FunctionRef<void(Timer&)> fire) {
  invariant(firing_.empty(), "advance_to is not called from the timers it fires");
  now_ = std::max(now_, now);
  const Tick last = static_cast<Tick>((now_ - start_).count()) / tick_;

  // What was overdue may lie within the first tick's time, so those two are put in order together.
  overdue().drain_into(firing_, pool_);
  // Again until nothing came of it: what a timer schedules while it fires is placed by the position
  // it fires at, so the position may move on only after the next tick was looked for from there.
  while (collect_tick(last) || !firing_.empty()) yield(fire);
  position_ = last;
}

// Moves the position to the next tick that holds a timer, if that is not after `last`, and takes
// the timers out.
bool TimingWheel::collect_tick(Tick last) {
  while (occupied_levels_ != 0) {
    const Coordinates at = first_occupied();
    const Tick tick = first_tick(at);
    if (tick > last) return false;

    position_ = tick;
    mark_empty(at);
    Slot& slot = slots_[number_of(at)];
    if (at.level == 0) {
      slot.drain_into(firing_, pool_);
      return true;
    }
    slot.drain_into(scratch_, pool_);
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
      fetch_ahead(scratch_, i);
      place(scratch_[i]);
    }
    scratch_.clear();
  }
  return false;
}

void TimingWheel::yield(FunctionRef<void(Timer&)> fire) {
  sort_by_due(firing_, scratch_);
  // All first: one that fires may cancel any other of them.
  for (std::size_t i = 0; i < firing_.size(); ++i) {
    fetch_ahead(firing_, i);
    firing_[i].timer->index_ = static_cast<std::uint32_t>(i);
    firing_[i].timer->slot_ = Timer::kFiring;
  }
  for (std::size_t i = 0; i < firing_.size(); ++i) {
    Timer* const timer = firing_[i].timer;
    if (timer == nullptr) continue;  // cancelled by one before it
    timer->block_ = nullptr;
    --pending_;
    fire(*timer);
  }
  firing_.clear();
}

std::optional<TimePoint> TimingWheel::next_wakeup() const {
  if (!overdue().empty()) return now_;
  if (occupied_levels_ == 0) return std::nullopt;
  const Coordinates at = first_occupied();
  return end_of(at.level == 0 ? first_tick(at) : tick_of(slots_[number_of(at)].earliest()));
}

void TimingWheel::mark_empty(Coordinates at) {
  occupied_[at.level].clear(at.index);
  if (!occupied_[at.level].any()) occupied_levels_ &= ~(std::uint64_t{1} << at.level);
}

TimePoint TimingWheel::end_of(Tick tick) const {
  const Duration length(static_cast<Duration::rep>(tick_));
  return saturating_add(start_, saturating_multiply(length, static_cast<Duration::rep>(tick)));
}

TimingWheel::Tick TimingWheel::first_tick(Coordinates at) const {
  const std::size_t shift = at.level * digit_bits_;
  const Tick above = position_ >> (shift + digit_bits_) << (shift + digit_bits_);
  return above | static_cast<Tick>(at.index) << shift;
}

TimingWheel::Coordinates TimingWheel::first_occupied() const {
  const auto level = static_cast<std::size_t>(std::countr_zero(occupied_levels_));
  return {level, occupied_[level].first()};
}

}  // namespace recourse::timing
