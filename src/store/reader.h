// Every question about stored work. Nothing here changes anything, waits for a writer, or reads a
// whole table for a number.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/history.h"
#include "store/limits.h"
#include "store/node.h"
#include "store/work.h"
#include "task/ids.h"
#include "task/record.h"

namespace recourse::store {

struct TaskPage {
  std::vector<task::Task> tasks;  // newest first
  // Goes into the next call; empty at the end. A page may be short, or empty, and still have one:
  // see kPageLooksMax.
  std::optional<task::TaskId> next;
};

struct Backlog {
  std::size_t due = 0;  // at most kBacklogCountMax
  bool more = false;
  // Of the oldest that is due.
  std::optional<TimePoint> oldest_due;
};

struct AuditPage {
  std::vector<AuditEntry> entries;  // newest first
  std::optional<std::int64_t> next;
};

using Counts = std::map<std::pair<task::Kind, task::State>, std::int64_t>;

class Reader {
 public:
  virtual ~Reader() = default;

  // Live or finished; kNotFound where there is none.
  virtual Result<task::Task> find(task::TaskId id, Duration within) = 0;
  virtual Result<TaskPage> list(const Filter& filter, std::optional<task::TaskId> after,
                                std::size_t limit, Duration within) = 0;
  // The newest kAttemptsKept, oldest first.
  virtual Result<std::vector<Attempt>> attempts(task::TaskId id, Duration within) = 0;
  // The newest kNotesKept, oldest first.
  virtual Result<std::vector<Note>> notes(task::TaskId id, Duration within) = 0;
  // Of one task, or of everything.
  virtual Result<AuditPage> audit(std::optional<task::TaskId> id, std::optional<std::int64_t> after,
                                  std::size_t limit, Duration within) = 0;
  // Kept by the writers; those that are zero are left out.
  virtual Result<Counts> counts(Duration within) = 0;
  // Of one kind.
  virtual Result<Backlog> backlog(const task::Kind& kind, Duration within) = 0;
  virtual Result<std::vector<NodeRow>> nodes(Duration within) = 0;
  virtual Result<Pauses> pauses(Duration within) = 0;
  // What the store says an owner has, by id, from `after` on: what a node compares with what it
  // holds.
  virtual Result<std::vector<Held>> held_by(const task::Owner& owner,
                                            std::optional<task::TaskId> after, std::size_t limit,
                                            Duration within) = 0;
};

}  // namespace recourse::store
