#include "message/order_watch.h"

#include <chrono>
#include <utility>

#include "store/limits.h"
#include "task/control.h"

namespace recourse::message {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr Duration kPatience = std::chrono::seconds(2);
constexpr const char* kActor = "engine";

// Whether it holds up those behind it no longer.
bool lets_pass(task::State state, const WaitingLine::Wait& wait) {
  return task::is_finished(state) || (wait.skips_dead && task::needs_person(state));
}

}  // namespace

OrderWatch::OrderWatch(store::OpenedStore& opened, std::function<void()> hint)
    : opened_(opened), hint_(std::move(hint)), thread_([this] { run(); }) {}

void OrderWatch::waits(const WaitingLine::Wait& wait) {
  MutexLock lock(mutex_);
  line_.add(wait);
  changed_.notify_all();
}

void OrderWatch::runs(task::TaskId task) {
  MutexLock lock(mutex_);
  (void)line_.take(task);
}

void OrderWatch::moved(const engine::Moved& moved) {
  MutexLock lock(mutex_);
  free(moved.task, moved.to);
}

void OrderWatch::stop() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
}

void OrderWatch::free(task::TaskId head, task::State state) {
  for (const WaitingLine::Wait& wait : line_.behind(head)) {
    if (!lets_pass(state, wait)) continue;
    (void)line_.take(wait.waiting);
    free_.insert(wait.waiting);
    changed_.notify_all();
  }
}

void OrderWatch::run() {
  while (const auto freed = next()) {
    if (freed->empty()) {
      look();
    } else {
      wake(*freed);
    }
  }
}

std::optional<std::vector<task::TaskId>> OrderWatch::next() {
  MutexLock lock(mutex_);
  // Nobody waits: there is nothing to look at.
  while (!closing_ && free_.empty() && line_.empty()) changed_.wait(mutex_);
  const auto until = std::chrono::steady_clock::now() + kLookEvery;
  while (!closing_ && free_.empty()) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  if (closing_) return std::nullopt;
  std::vector<task::TaskId> freed;
  while (!free_.empty() && freed.size() < store::kBatchRowsMax) {
    freed.push_back(free_.extract(free_.begin()).value());
  }
  return freed;
}

void OrderWatch::look() {
  std::vector<task::TaskId> heads;
  {
    MutexLock lock(mutex_);
    heads = line_.heads(kHeadsAtOnce);
  }
  for (const task::TaskId head : heads) {
    const auto found = opened_.reader().find(head, kPatience);
    // One that is gone was purged, and so had ended.
    const bool is_gone = !found && found.error().code == ErrorCode::kNotFound;
    // The store is in trouble: later.
    if (!found && !is_gone) return;
    MutexLock lock(mutex_);
    free(head, is_gone ? task::State::kSucceeded : found->state);
  }
}

// One that is woken too early only looks once more.
void OrderWatch::wake(const std::vector<task::TaskId>& tasks) {
  task::Order order;
  order.move = task::Move::kRetryNow;
  order.reason = "the older message of its key has ended";
  // What fails here is made good by the message's own next look.
  if (opened_.store().control(tasks, order, kActor, kPatience)) hint_();
}

}  // namespace recourse::message
