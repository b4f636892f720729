// I11: one case per escalation, and every one is told; a reminder never before its interval, and
// no case in two hands at once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/checker.h"
#include "sim/tellers.h"

namespace recourse::sim {
namespace {

using Key = std::pair<task::TaskId, task::Fence>;

class OneCaseEach final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const bool waits = change.after && task::needs_person(change.after->state);
    const auto found = data_.cases.find(change.id);
    if (waits == (found != data_.cases.end())) return;
    broken("I11 a case for each that waits for a person",
           waits ? "it escalated, and has none" : "it has one, and waits for nobody", change.id,
           change.at);
  }
};

class Reminders final : public Checker {
 public:
  using Checker::Checker;

  void case_taken(const store::Case& held, TimePoint at) override {
    TimePoint& free_at = held_until_[{held.task, held.fence}];
    if (at < free_at) {
      broken("I11 a case is in one hand", "it was taken while somebody held it", held.task, at);
    }
    free_at = *held.remind_at;
  }

  void case_put_off(const store::Case& held, TimePoint until, bool certain) override {
    TimePoint& free_at = held_until_[{held.task, held.fence}];
    free_at = certain ? until : std::min(free_at, until);
  }

  void case_told(const store::Case& held, TimePoint at) override {
    const Key key(held.task, held.fence);
    std::map<int, TimePoint>& told = told_[key];
    told.try_emplace(held.reminders, at);
    if (held.reminders == 0 || assigned_.contains(key)) return;
    const auto before = told.find(held.reminders - 1);
    if (before == told.end()) {
      broken("I11 every reminder is told", fmt::format("number {} was not", held.reminders - 1),
             held.task, at);
    } else if (at < before->second + kReminderInterval * held.reminders) {
      broken("I11 no reminder before its interval", fmt::format("number {}", held.reminders),
             held.task, at);
    }
  }

  // Then it is theirs to say when they are reminded.
  void case_assigned(const store::Case& now, TimePoint) override {
    const Key key(now.task, now.fence);
    assigned_.insert(key);
    held_until_.erase(key);
  }

  void at_end(TimePoint at) override {
    for (const auto& [id, one] : data_.cases) {
      const Key key(id, one.fence);
      if (at - one.opened_at < std::chrono::minutes(5) || assigned_.contains(key)) continue;
      if (!told_.contains(key)) broken("I11 every escalation is told", "nobody was", id, at);
    }
  }

 private:
  std::map<Key, TimePoint> held_until_;
  // When each was told first.
  std::map<Key, std::map<int, TimePoint>> told_;
  std::set<Key> assigned_;
};

}  // namespace

void add_case_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<OneCaseEach>(ledger, data));
  checkers.push_back(std::make_unique<Reminders>(ledger, data));
}

}  // namespace recourse::sim
