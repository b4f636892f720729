#include "store/books.h"

#include "base/planted_bug.h"

namespace recourse::store {

void Books::moved(const task::Kind& kind, task::State from, task::State to) {
  if (from == to) return;
  vanished(kind, from);
  appeared(kind, to);
}

void Books::turned(const task::TaskId& task, task::State from, task::State to, TimePoint at,
                   task::Fence fence) {
  const bool waited = task::needs_person(from);
  const bool waits = task::needs_person(to);
  if (waited && !waits) closed_.push_back(task);
  if (planted(PlantedBug::kCaseNotOpened) && from == task::State::kRunning &&
      to == task::State::kFailed) {
    return;
  }
  if (!waited && waits) {
    opened_.push_back({.task = task, .fence = fence, .opened_at = at, .remind_at = at});
  }
}

Result<> Books::write(Transaction& transaction) const {
  if (!closed_.empty()) {
    if (Result<> closed = transaction.close_cases(closed_); !closed) return closed;
  }
  if (!opened_.empty()) {
    if (Result<> opened = transaction.open_cases(opened_); !opened) return opened;
  }
  if (!attempts_.empty()) {
    if (Result<> added = transaction.add_attempts(attempts_); !added) return added;
  }
  if (!audit_.empty()) {
    if (Result<> added = transaction.add_audit(audit_); !added) return added;
  }
  if (!notes_.empty()) {
    if (Result<> added = transaction.add_notes(notes_); !added) return added;
  }
  std::vector<CountChange> changes;
  for (const auto& [kind, counts] : counts_) {
    for (const task::State state : task::kAllStates) {
      const std::int64_t by = counts[static_cast<std::size_t>(state)];
      if (by != 0) changes.push_back({.kind = kind, .state = state, .by = by});
    }
  }
  if (changes.empty()) return {};
  return transaction.add_counts(changes);
}

void ChangedRows::changed(task::Task after, task::State before, const Retention& retention,
                          Books& books) {
  const task::Kind& kind = after.spec.kind;
  books.moved(kind, before, after.state);
  books.turned(after.id, before, after.state, after.ended_at.value_or(TimePoint()),
               after.ticket.fence);
  if (!task::is_finished(after.state)) {
    live_.push_back(std::move(after));
    return;
  }
  const TimePoint expiry = expires_at(retention, kind, after.state, *after.ended_at);
  finished_.push_back({.task = std::move(after), .expires_at = expiry});
}

Result<> ChangedRows::write(Transaction& transaction) const {
  if (!live_.empty()) {
    if (Result<> written = transaction.write_rows(live_); !written) return written;
  }
  if (!finished_.empty()) return transaction.archive_rows(finished_);
  return {};
}

}  // namespace recourse::store
