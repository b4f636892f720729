#include "message/hand_off.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace recourse::message {
namespace {

// What waits is four batches at most; the source's prefetch may allow less.
constexpr std::size_t kBatchesWaiting = 4;

// A limit may be as good as none.
Deadline end_of(Duration wait) {
  return std::chrono::steady_clock::now() + std::min<Duration>(wait, std::chrono::hours(24));
}

}  // namespace

std::size_t HandOff::room() const {
  constexpr std::size_t kWorthACall = 4;  // of a batch
  const MutexLock lock(mutex_);
  const std::size_t most = batch_ * kBatchesWaiting;
  std::size_t waiting = 0;
  for (const std::vector<Message>& batch : waiting_) waiting += batch.size();
  const std::size_t room = std::min(batch_, most - std::min(most, waiting));
  return room * kWorthACall >= batch_ ? room : 0;
}

void HandOff::offer(std::vector<Message> batch) {
  {
    const MutexLock lock(mutex_);
    if (is_closed_) return;
    if (!waiting_.empty()) fill_last(batch);
    if (!batch.empty()) waiting_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

void HandOff::fill_last(std::vector<Message>& batch) {
  std::vector<Message>& last = waiting_.back();
  const auto some = std::min(batch.size(), batch_ - std::min(batch_, last.size()));
  const auto end = batch.begin() + static_cast<std::ptrdiff_t>(some);
  last.insert(last.end(), std::move_iterator(batch.begin()), std::move_iterator(end));
  batch.erase(batch.begin(), end);
}

std::vector<Verdict> HandOff::take_verdicts(Deadline now) {
  std::vector<Verdict> due;
  const MutexLock lock(mutex_);
  const auto is_due = [&](const DueVerdict& one) {
    if (one.from > now) return false;
    due.push_back(one.verdict);
    return true;
  };
  std::erase_if(verdicts_, is_due);
  return due;
}

std::optional<std::vector<Message>> HandOff::take() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !is_closed_) changed_.wait(mutex_);
  if (is_closed_) return std::nullopt;
  is_dealing_ = true;
  std::vector<Message> batch = std::move(waiting_.front());
  waiting_.pop_front();
  return batch;
}

void HandOff::decide(const std::vector<DueVerdict>& verdicts) {
  const MutexLock lock(mutex_);
  verdicts_.insert(verdicts_.end(), verdicts.begin(), verdicts.end());
}

void HandOff::finish() {
  {
    const MutexLock lock(mutex_);
    is_dealing_ = false;
  }
  changed_.notify_all();
}

bool HandOff::closed_within(Duration pause) {
  const Deadline until = end_of(pause);
  const MutexLock lock(mutex_);
  while (!is_closed_) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  return is_closed_;
}

void HandOff::close() {
  {
    const MutexLock lock(mutex_);
    is_closed_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
}

bool HandOff::idle_within(Duration limit) {
  const Deadline until = end_of(limit);
  const MutexLock lock(mutex_);
  while (is_dealing_) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  return !is_dealing_;
}

}  // namespace recourse::message
