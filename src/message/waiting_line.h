// Who waits behind whom within a key, as far as this node has put them off. Pure.
//
// Bounded: beyond `most` nobody is taken in, and those messages look by themselves.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "task/ids.h"

namespace recourse::message {

class WaitingLine {
 public:
  explicit WaitingLine(std::size_t most) : most_(most) {}

  struct Wait {
    task::TaskId waiting;
    task::TaskId behind;
    // One that waits for a person is not waited for.
    bool skips_dead = false;
  };

  // Replaces what it waited for before.
  void add(const Wait& wait) {
    (void)take(wait.waiting);
    if (waits_.size() == most_) return;
    waits_.emplace(wait.waiting, wait);
    behind_.emplace(wait.behind, wait.waiting);
  }
  // It waits no more; empty where it did not.
  std::optional<Wait> take(task::TaskId waiting) {
    const auto node = waits_.extract(waiting);
    if (node.empty()) return std::nullopt;
    const Wait wait = node.mapped();
    const auto [begin, end] = behind_.equal_range(wait.behind);
    for (auto it = begin; it != end; ++it) {
      if (it->second != waiting) continue;
      behind_.erase(it);
      break;
    }
    return wait;
  }
  [[nodiscard]] std::vector<Wait> behind(task::TaskId head) const {
    std::vector<Wait> waits;
    const auto [begin, end] = behind_.equal_range(head);
    for (auto it = begin; it != end; ++it) waits.push_back(waits_.at(it->second));
    return waits;
  }

  // Up to so many that are waited for and do not wait themselves, in turn: the next call goes on
  // behind the last one.
  std::vector<task::TaskId> heads(std::size_t limit) {
    std::vector<task::TaskId> found;
    auto it = behind_.upper_bound(last_);
    for (std::size_t looked = 0; looked < behind_.size() && found.size() < limit; ++looked) {
      if (it == behind_.end()) it = behind_.begin();
      const task::TaskId head = it->first;
      last_ = head;
      const bool is_new = found.empty() || found.back() != head;
      if (is_new && !waits_.contains(head)) found.push_back(head);
      ++it;
    }
    return found;
  }

  [[nodiscard]] bool empty() const { return waits_.empty(); }

 private:
  const std::size_t most_;
  std::map<task::TaskId, Wait> waits_;
  std::multimap<task::TaskId, task::TaskId> behind_;
  task::TaskId last_ = {};
};

}  // namespace recourse::message
