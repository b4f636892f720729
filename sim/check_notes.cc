// What handlers said: a note is of somebody who has the task, and the last words of a success are
// there with it.
#include <algorithm>

#include "sim/checker.h"

namespace recourse::sim {
namespace {

class Notes final : public Checker {
 public:
  using Checker::Checker;

  void note_kept(const store::Jotting& jotting, TimePoint at) override {
    const task::Task* task = row(jotting.note.task);
    if (task != nullptr && task->ticket.lease == jotting.ticket.lease) return;
    broken("a note is its owner's", "it was kept of somebody who has lost the task",
           jotting.note.task, at);
  }

  void row_changed(const RowChange& change) override {
    if (change.archived == nullptr || change.archived->state != task::State::kSucceeded) return;
    task::Ticket ran = change.archived->ticket;
    --ran.fence.value;
    if (!ledger_.last_words.contains({change.id, ran})) return;
    const auto notes = data_.notes.find(change.id);
    const bool there =
        notes != data_.notes.end() && std::ranges::any_of(notes->second, [](const auto& note) {
          return note.second.text == kLastWords;
        });
    if (there) return;
    broken("a success has its handler's last words", "they are not there", change.id, change.at);
  }
};

}  // namespace

void add_note_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<Notes>(ledger, data));
}

}  // namespace recourse::sim
