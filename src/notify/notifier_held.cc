// What the notifier does with notices that were held back.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/thread_name.h"
#include "notify/notifier_state.h"

namespace recourse::notify {
namespace {

using Answer = Verdict::Answer;

}  // namespace

// The newest is named; it goes through the filters like any other, so that it counts in the rate
// limit, and waits on where it is quiet by now.
std::vector<Notifier::State::Ready> Notifier::State::take_due() {
  const Now at = now();
  std::vector<Ready> ready;
  MutexLock lock(mutex_);
  while (auto due = held_.take_due(at.steady)) {
    auto& [sort, tally] = *due;
    const Verdict verdict = judge(tally.newest, at, Use::kAllFilters);
    if (verdict.answer == Answer::kHoldBack) {
      held_.put_back(sort, std::move(tally), std::max(verdict.until, at.steady + kHeldBackMin));
      continue;
    }
    if (verdict.answer == Answer::kUnwanted) sort.channels.clear();
    tally.newest.more += tally.count - 1;
    ready.push_back({.notice = std::move(tally.newest),
                     .channels = std::move(sort.channels),
                     .ended = std::move(tally.ended),
                     .summary = true});
  }
  return ready;
}

// Before the end what only came too fast is still told. What waits for a better hour is not: nobody
// is woken up because a process ends, and who keeps an outbox tells of it after the restart.
std::vector<Notifier::State::Ready> Notifier::State::take_all() {
  const Now at = now();
  std::vector<Ready> ready;
  MutexLock lock(mutex_);
  while (auto held = held_.take_any()) {
    auto& [sort, tally] = *held;
    const Verdict verdict = judge(tally.newest, at, Use::kWithoutRateLimit);
    if (verdict.answer != Answer::kPass) sort.channels.clear();
    Ending ending{.fate = Fate::kUnwanted};
    if (verdict.answer == Answer::kHoldBack) {
      ending = {.fate = Fate::kLater, .wait = std::max(verdict.until - at.steady, kHeldBackMin)};
    }
    tally.newest.more += tally.count - 1;
    ready.push_back({.notice = std::move(tally.newest),
                     .channels = std::move(sort.channels),
                     .ended = std::move(tally.ended),
                     .summary = true,
                     .ending = ending});
  }
  return ready;
}

void Notifier::State::send_or_end(Ready ready) {
  if (!ready.channels.empty()) return dispatch(std::move(ready));
  for (const Ended& ended : ready.ended) tell(ended, ready.ending);
}

void Notifier::State::look_at_held_back() {
  for (Ready& one : take_due()) send_or_end(std::move(one));
}

void Notifier::State::watch_held_back() {
  name_this_thread("notify-held");
  while (true) {
    {
      MutexLock lock(mutex_);
      if (ending_) return;
      const auto due = held_.next_due();
      watched_until_ = due.value_or(kNever);
      if (!due) {
        changed_.wait(mutex_);
      } else if (const Duration left = *due - time_.now(); left > Duration::zero()) {
        changed_.wait_until(mutex_,
                            std::chrono::steady_clock::now() + std::min(left, kLongestWait));
      }
      if (ending_) return;
    }
    try {
      look_at_held_back();
    } catch (...) {
      // Out of memory: looked at again.
    }
  }
}

}  // namespace recourse::notify
