// One of the stores that the differential test runs in lockstep, and how its answers are written
// down so that they can be compared with another's.
//
// Every store has a clock of its own, so times are written as whole hours since the store was
// opened: a test takes minutes and uses no delay but none and an hour.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/opened.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::tests::differential {

std::string words(const Error& error);

class Side {
 public:
  Side(std::string name, std::unique_ptr<store::OpenedStore> opened);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] store::Store& store() { return opened_->store(); }
  [[nodiscard]] store::Reader& reader() { return opened_->reader(); }
  [[nodiscard]] store::Cases& cases() { return opened_->cases(); }
  [[nodiscard]] store::Inbox& inbox() { return opened_->inbox(); }

  // The store's time, as it last told it.
  [[nodiscard]] TimePoint now() const { return now_; }
  void told(TimePoint now) { now_ = now; }

  // A task as an owner or a person last saw it; it may have changed since.
  void saw(const task::Task& task) { seen_[task.id] = task; }
  [[nodiscard]] const std::map<task::TaskId, task::Task>& seen() const { return seen_; }

  // What was written last, to be sent again.
  std::vector<store::Outcome> last_outcomes;

  // --- in words ---
  [[nodiscard]] std::string words(TimePoint time) const;
  [[nodiscard]] std::string words(const std::optional<TimePoint>& time) const;
  [[nodiscard]] std::string words(const task::Task& task) const;
  [[nodiscard]] std::string words(std::vector<task::Task> tasks) const;
  [[nodiscard]] std::string words(const store::Case& one) const;
  // Everything that is stored: rows, cases, attempts, audit, counts, nodes, pauses, what each owner
  // holds.
  std::vector<std::string> everything();

  // Those of a kind that are due, oldest first; empty where two of them are equally old.
  std::optional<std::vector<task::TaskId>> due_in_order(const task::Kind& kind);
  std::vector<task::Task> list(const store::Filter& filter);

 private:
  std::vector<std::string> audit();

  std::string name_;
  std::unique_ptr<store::OpenedStore> opened_;
  TimePoint start_;
  TimePoint now_;
  std::map<task::TaskId, task::Task> seen_;
};

}  // namespace recourse::tests::differential
