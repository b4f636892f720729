// Collects what one transaction has to write beside the rows themselves: counts, cases, attempts,
// audit.
// Written last, so that rows which others want too are held as short as possible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/retention.h"
#include "store/transaction.h"

namespace recourse::store {

class Books {
 public:
  void moved(const task::Kind& kind, task::State from, task::State to);
  // Where it waits for a person from here on, or does not any more, its case is opened or closed.
  // The fence is the one of this write.
  void turned(const task::TaskId& task, task::State from, task::State to, TimePoint at,
              task::Fence fence);
  void appeared(const task::Kind& kind, task::State state) { count(kind, state, 1); }
  void vanished(const task::Kind& kind, task::State state) { count(kind, state, -1); }
  void attempted(Attempt attempt) { attempts_.push_back(std::move(attempt)); }
  void noted(AuditEntry entry) { audit_.push_back(std::move(entry)); }
  void said(std::span<const Note> notes) {
    notes_.insert(notes_.end(), notes.begin(), notes.end());
  }

  Result<> write(Transaction& transaction) const;

 private:
  using Counts = std::array<std::int64_t, task::kAllStates.size()>;

  void count(const task::Kind& kind, task::State state, std::int64_t by) {
    counts_[kind][static_cast<std::size_t>(state)] += by;
  }

  // By kind, and by state in the order of kAllStates.
  std::map<task::Kind, Counts> counts_;
  std::vector<Attempt> attempts_;
  std::vector<AuditEntry> audit_;
  std::vector<Note> notes_;
  std::vector<Case> opened_;
  std::vector<task::TaskId> closed_;
};

// The changed rows of a transaction: those that stay, and those that go to the archive.
class ChangedRows {
 public:
  // `before` is the state that was counted.
  void changed(task::Task after, task::State before, const Retention& retention, Books& books);

  Result<> write(Transaction& transaction) const;

 private:
  std::vector<task::Task> live_;
  std::vector<Finished> finished_;
};

}  // namespace recourse::store
