#include "engine/core/lane_queue.h"

#include <algorithm>

#include "engine/core/held_task.h"

namespace recourse::engine {
namespace {

constexpr std::uint64_t kOldestEvery = 10;
constexpr std::size_t kIdleEntriesMax = 64;

}  // namespace

LaneQueue::Entry LaneQueue::enter(HeldTask& held) {
  const Entry entry{.task = held.task->id, .turn = ++turns_};
  waiting_[entry.task] = {.held = &held, .turn = entry.turn};
  ++entries_;
  return entry;
}

void LaneQueue::put_back(HeldTask& held) {
  const task::TaskSpec& spec = held.task->spec;
  const Entry entry = enter(held);
  by_priority_[spec.priority].tenants[spec.tenant].push_front(entry);
  by_age_.push_front(entry);
}

void LaneQueue::push(HeldTask& held) {
  const task::TaskSpec& spec = held.task->spec;
  const Entry entry = enter(held);
  by_priority_[spec.priority].tenants[spec.tenant].push_back(entry);
  by_age_.push_back(entry);
  if (std::max(entries_, by_age_.size()) > 4 * waiting_.size() + kIdleEntriesMax) {
    forget_those_who_left();
  }
}

// What leaves through one door leaves its entry at the other.
void LaneQueue::forget_those_who_left() {
  const auto left = [&](const Entry& entry) {
    const auto found = waiting_.find(entry.task);
    return found == waiting_.end() || found->second.turn != entry.turn;
  };
  std::erase_if(by_age_, left);
  entries_ = 0;
  for (auto& [priority, level] : by_priority_) {
    for (auto& [tenant, entries] : level.tenants) {
      std::erase_if(entries, left);
      entries_ += entries.size();
    }
    std::erase_if(level.tenants, [](const auto& tenant) { return tenant.second.empty(); });
  }
}

HeldTask* LaneQueue::pop() {
  if (empty()) {
    by_priority_.clear();
    by_age_.clear();
    entries_ = 0;
    return nullptr;
  }
  return ++pops_ % kOldestEvery == 0 ? pop_oldest() : pop_by_priority();
}

bool LaneQueue::remove(const HeldTask& held) { return waiting_.erase(held.task->id) == 1; }

HeldTask* LaneQueue::take(const Entry& entry) {
  const auto found = waiting_.find(entry.task);
  if (found == waiting_.end() || found->second.turn != entry.turn) return nullptr;
  HeldTask* held = found->second.held;
  waiting_.erase(found);
  return held;
}

HeldTask* LaneQueue::pop_oldest() {
  while (!by_age_.empty()) {
    const Entry entry = by_age_.front();
    by_age_.pop_front();
    if (HeldTask* held = take(entry)) return held;
  }
  return nullptr;
}

HeldTask* LaneQueue::pop_by_priority() {
  while (!by_priority_.empty()) {
    const auto level = by_priority_.begin();
    if (HeldTask* held = pop_in_turn(level->second)) return held;
    by_priority_.erase(level);
  }
  return nullptr;
}

HeldTask* LaneQueue::pop_in_turn(OnePriority& level) {
  while (!level.tenants.empty()) {
    auto next = level.tenants.upper_bound(level.last);
    if (next == level.tenants.end()) next = level.tenants.begin();
    level.last = next->first;
    std::deque<Entry>& entries = next->second;
    HeldTask* held = nullptr;
    while (held == nullptr && !entries.empty()) {
      held = take(entries.front());
      entries.pop_front();
      --entries_;
    }
    if (entries.empty()) level.tenants.erase(next);
    if (held != nullptr) return held;
  }
  return nullptr;
}

}  // namespace recourse::engine
