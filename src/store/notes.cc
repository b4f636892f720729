// note: what handlers say while they run, kept only of those that have the task.
#include <algorithm>
#include <map>
#include <utility>

#include "store/batch.h"
#include "store/transactional_store.h"

namespace recourse::store {
namespace {

using task::TaskId;
using task::Ticket;

class NoteRun {
 public:
  // Refers to the batch.
  explicit NoteRun(std::span<const Jotting> batch) : batch_(batch) {
    for (const Jotting& item : batch) ids_.push_back(item.note.task);
    std::ranges::sort(ids_);
    const auto repeated = std::ranges::unique(ids_);
    ids_.erase(repeated.begin(), repeated.end());
  }

  Result<> operator()(Transaction& transaction) {
    tickets_.clear();
    kept_.clear();
    if (Result<> found = find_tickets(transaction); !found) return found;
    std::vector<Note> notes;
    for (const Jotting& item : batch_) {
      kept_.push_back(is_kept(item));
      if (kept_.back()) notes.push_back(cleaned(item.note));
    }
    return notes.empty() ? Result<>{} : transaction.add_notes(notes);
  }

  [[nodiscard]] const std::vector<bool>& kept() const { return kept_; }

 private:
  // Locked, so that whoever takes the task over does so before or after.
  Result<> find_tickets(Transaction& transaction) {
    const auto rows = transaction.lock(ids_);
    if (!rows) return fail(rows.error());
    for (const task::Task& row : *rows) tickets_[row.id] = row.ticket;
    std::vector<TaskId> gone;
    std::ranges::copy_if(ids_, std::back_inserter(gone),
                         [&](const TaskId& id) { return !tickets_.contains(id); });
    if (gone.empty()) return {};
    const auto archived = transaction.find_archived(gone);
    if (!archived) return fail(archived.error());
    for (const ArchivedTicket& row : *archived) tickets_[row.task] = row.ticket;
    return {};
  }

  // The outcome of the attempt may have overtaken its notes.
  [[nodiscard]] bool is_kept(const Jotting& item) const {
    const auto row = tickets_.find(item.note.task);
    return row != tickets_.end() &&
           task::judge_write(row->second, item.ticket) != task::WriteVerdict::kRefused;
  }

  std::span<const Jotting> batch_;
  std::vector<TaskId> ids_;  // ascending
  std::map<TaskId, Ticket> tickets_;
  std::vector<bool> kept_;
};

}  // namespace

Result<std::vector<bool>> TransactionalStore::note(std::span<const Jotting> batch,
                                                   Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  NoteRun run(batch);
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, run); !ran) {
    return fail(ran.error());
  }
  return run.kept();
}

}  // namespace recourse::store
