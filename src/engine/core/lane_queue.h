// The tasks of one kind that wait for a free place on this node.
//
// Larger priorities first; within one, tenants in turns; within a tenant, first come, first served.
// Every tenth goes to whoever has waited longest, so that nothing starves here that the store's
// claim let through for its age.
//
// Thread safety: none; a lane owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "task/ids.h"

namespace recourse::engine {

struct HeldTask;

class LaneQueue {
 public:
  void push(HeldTask& held);
  // It was taken out too early: the next of its tenant and priority.
  void put_back(HeldTask& held);
  // Empty: nullptr.
  HeldTask* pop();
  // False where it is not in here.
  bool remove(const HeldTask& held);

  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  // Those who left keep their entries until they come up: an entry counts while it is the newest of
  // its task.
  struct Entry {
    task::TaskId task;
    std::uint64_t turn;
  };
  struct Waiting {
    HeldTask* held;
    std::uint64_t turn;
  };
  struct OnePriority {
    std::map<task::Tenant, std::deque<Entry>> tenants;
    task::Tenant last;  // whose turn it was
  };

  Entry enter(HeldTask& held);
  HeldTask* take(const Entry& entry);
  HeldTask* pop_by_priority();
  HeldTask* pop_oldest();
  HeldTask* pop_in_turn(OnePriority& level);
  void forget_those_who_left();

  std::map<task::TaskId, Waiting> waiting_;
  std::map<int, OnePriority, std::greater<>> by_priority_;
  std::deque<Entry> by_age_;
  std::size_t entries_ = 0;  // of by_priority_
  std::uint64_t turns_ = 0;
  std::uint64_t pops_ = 0;
};

}  // namespace recourse::engine
