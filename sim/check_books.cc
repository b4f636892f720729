// Nothing is lost, everything is finished, and the counts agree.
#include <fmt/format.h>

#include <set>

#include "sim/checker.h"

namespace recourse::sim {
namespace {

using task::State;

// I1: an acknowledged submit exists exactly once from then on, in the hot table or in the archive,
// until it is purged; a purge leaves one audit row.
class NothingLost final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    if (change.after && change.archived != nullptr) {
      broken("I1 exactly once", "it is in the hot table and in the archive", change.id, change.at);
    }
    if (!change.before && change.after && !existed_.insert(change.id).second) {
      broken("I1 exactly once", "it had been finished, and came back to life", change.id,
             change.at);
    }
    if (change.before && change.now() == nullptr && change.verb != Verb::kPurge) {
      broken("I1 no loss", fmt::format("{} deleted it", to_string(change.verb)), change.id,
             change.at);
    }
  }

  void acknowledged(const task::TaskId& submitted, const task::TaskId& task,
                    TimePoint at) override {
    ledger_.submits[submitted].acknowledged = true;
    promised_.insert(task);
    if (row(task) != nullptr || ledger_.purged.contains(task)) return;
    broken("I1 no loss", "it was acknowledged, and is not there", task, at);
  }

  void purged(std::size_t tasks, std::size_t audit_rows, TimePoint at) override {
    const std::size_t expected = tasks > 0 ? 1 : 0;
    if (audit_rows >= expected) return;
    broken("I1 a purge leaves an audit row", fmt::format("{} tasks, no row", tasks), {}, at);
  }

  void at_end(TimePoint at) override {
    for (const task::TaskId& id : promised_) {
      if (row(id) == nullptr && !ledger_.purged.contains(id)) {
        broken("I1 no loss", "it was acknowledged, and is gone", id, at);
      }
    }
  }

 private:
  std::set<task::TaskId> existed_;
  std::set<task::TaskId> promised_;
};

// I10: some time after the last fault everything is finished, or waits for a person.
class Progress final : public Checker {
 public:
  using Checker::Checker;

  void at_end(TimePoint at) override {
    for (const auto& [id, task] : data_.live()) {
      if (task.state != State::kPending && task.state != State::kRunning) continue;
      broken("I10 progress",
             fmt::format("it is still {} (kind {}, retries {}, owner {})",
                         task::to_string(task.state), task.spec.kind.value, task.retries,
                         task.owner ? task::to_string(*task.owner) : "none"),
             id, at);
    }
  }
};

// I14: the counts per kind and state are those of the rows, and add up to what was submitted minus
// what was purged.
class CountsAgree final : public Checker {
 public:
  using Checker::Checker;

  void purged(std::size_t, std::size_t, TimePoint at) override { compare(at); }
  void at_end(TimePoint at) override { compare(at); }

 private:
  void compare(TimePoint at) {
    store::Counts rows;
    std::int64_t all = 0;
    for (const auto& [id, task] : data_.live()) ++rows[{task.spec.kind, task.state}], ++all;
    for (const auto& [id, old] : data_.archived) {
      ++rows[{old.task.spec.kind, old.task.state}], ++all;
    }
    for (const auto& [key, count] : data_.counts) {
      const auto found = rows.find(key);
      const std::int64_t there = found == rows.end() ? 0 : found->second;
      if (count == there) continue;
      broken("I14 conservation",
             fmt::format("{} {}: counted {}, there are {}", key.first.value,
                         task::to_string(key.second), count, there),
             {}, at);
    }
    const auto kept = static_cast<std::int64_t>(ledger_.inserted - ledger_.purged.size());
    if (all == kept) return;
    broken("I14 conservation", fmt::format("{} rows, but {} were kept", all, kept), {}, at);
  }
};

}  // namespace

void add_book_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<NothingLost>(ledger, data));
  checkers.push_back(std::make_unique<Progress>(ledger, data));
  checkers.push_back(std::make_unique<CountsAgree>(ledger, data));
}

}  // namespace recourse::sim
