// Virtual time: what is to happen, in the order of its time. Nothing happens between two entries,
// so an hour costs only what is done in it.
//
// Thread safety: none; each world has its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/time.h"

namespace recourse::sim {

class Schedule {
 public:
  using Action = std::function<void()>;

  explicit Schedule(TimePoint start) : now_(start) {}

  [[nodiscard]] TimePoint now() const { return now_; }

  // At the same time: in the order in which they were asked for.
  void at(TimePoint when, Action action) {
    entries_.push_back(
        {.when = std::max(when, now_), .turn = ++turns_, .action = std::move(action)});
    std::ranges::push_heap(entries_, later);
  }
  void after(Duration wait, Action action) { at(now_ + wait, std::move(action)); }

  // Runs everything up to and including `end`, and stands there afterwards. May be called from
  // within an action: that is how a call waits while the world goes on.
  void run_until(TimePoint end) {
    while (!stopped_ && !entries_.empty() && entries_.front().when <= end) {
      std::ranges::pop_heap(entries_, later);
      Entry entry = std::move(entries_.back());
      entries_.pop_back();
      now_ = std::max(now_, entry.when);
      entry.action();
    }
    if (!stopped_) now_ = std::max(now_, end);
  }
  // Something was found: nothing more happens.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  struct Entry {
    TimePoint when;
    std::uint64_t turn;
    Action action;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.when != b.when ? a.when > b.when : a.turn > b.turn;
  }

  TimePoint now_;
  std::uint64_t turns_ = 0;
  bool stopped_ = false;
  std::vector<Entry> entries_;
};

// The store's clock: the world's own time.
class WorldClock final : public Clock {
 public:
  explicit WorldClock(const Schedule& schedule) : schedule_(schedule) {}

  [[nodiscard]] TimePoint now() const override { return schedule_.now(); }
  [[nodiscard]] BootTime since_boot() const override {
    return BootTime(schedule_.now().time_since_epoch());
  }

 private:
  const Schedule& schedule_;
};

}  // namespace recourse::sim
