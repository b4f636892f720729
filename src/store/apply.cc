// apply, record_starts, renew: what owners write, each only while the row carries their ticket.
#include <algorithm>
#include <map>
#include <utility>

#include "base/planted_bug.h"
#include "store/batch.h"
#include "store/books.h"
#include "store/transactional_store.h"

namespace recourse::store {
namespace {

using task::Task;
using task::TaskId;
using task::Transition;
using task::WriteVerdict;

// A decision by which a task stops, worth a line in its timeline.
bool is_notable(const Transition& change) {
  return task::needs_person(change.to) || change.to == task::State::kPaused ||
         (task::is_finished(change.to) && change.to != task::State::kSucceeded);
}

std::string told(const std::optional<task::Reason>& reason) {
  return reason ? reason->code + ": " + reason->message : "";
}

class ApplyRun {
 public:
  ApplyRun(std::span<const Outcome> batch, const Retention& retention) : retention_(retention) {
    for (const Outcome& outcome : batch) outcomes_.push_back(cleaned(outcome));
    std::ranges::sort(outcomes_, {}, [](const Outcome& item) { return item.transition.task; });
  }

  Result<> operator()(Transaction& transaction) {
    answers_.clear();
    books_ = {};
    requested_ = {};
    if (Result<> step = write_plainly(transaction); !step) return step;
    if (Result<> step = judge_rest(transaction); !step) return step;
    if (Result<> step = requested_.write(transaction); !step) return step;
    return books_.write(transaction);
  }

  [[nodiscard]] const Applied& answer(TaskId id) const { return answers_.at(id); }

 private:
  // The common case: nobody interfered and nobody asked for anything.
  Result<> write_plainly(Transaction& transaction) {
    std::vector<Transition> moves;
    std::vector<Finish> finishes;
    for (const Outcome& outcome : outcomes_) {
      const Transition& change = outcome.transition;
      if (!task::is_finished(change.to)) {
        moves.push_back(change);
      } else {
        finishes.push_back(
            {.transition = change,
             .expires_at = expires_at(retention_, change.account.kind, change.to, change.at)});
      }
    }
    std::set<TaskId> written;
    if (!moves.empty()) {
      const auto done = transaction.write_moves(moves);
      if (!done) return fail(done.error());
      for (std::size_t i = 0; i < moves.size(); ++i) {
        if ((*done)[i]) written.insert(moves[i].task);
      }
    }
    if (!finishes.empty()) {
      const auto done = transaction.write_finishes(finishes);
      if (!done) return fail(done.error());
      for (std::size_t i = 0; i < finishes.size(); ++i) {
        if ((*done)[i]) written.insert(finishes[i].transition.task);
      }
    }
    for (const Outcome& outcome : outcomes_) {
      if (!written.contains(outcome.transition.task)) continue;
      books_.moved(outcome.transition.account.kind, outcome.transition.from, outcome.transition.to);
      applied(outcome, outcome.transition, "");
    }
    return {};
  }

  void applied(const Outcome& outcome, const Transition& written, std::string_view why) {
    answers_[written.task] = {.verdict = WriteVerdict::kApply, .state = written.to};
    if (outcome.attempt) books_.attempted(*outcome.attempt);
    if (why.empty() && !is_notable(written)) return;
    books_.noted({.at = written.at,
                  .task = written.task,
                  .actor = outcome.attempt ? outcome.attempt->owner : "engine",
                  .action = std::string(task::to_string(written.move)),
                  .detail = why.empty() ? told(written.error) : std::string(why),
                  .fence = task::next(written.ticket.fence)});
  }

  Result<> judge_rest(Transaction& transaction) {
    std::map<TaskId, const Outcome*> open;
    std::vector<TaskId> ids;
    for (const Outcome& outcome : outcomes_) {
      if (answers_.contains(outcome.transition.task)) continue;
      open[outcome.transition.task] = &outcome;
      ids.push_back(outcome.transition.task);
    }
    if (open.empty()) return {};
    auto rows = transaction.lock(ids);
    if (!rows) return fail(rows.error());
    for (Task& row : *rows) {
      const Outcome& outcome = *open.at(row.id);
      open.erase(row.id);
      judge(std::move(row), outcome);
    }
    return open.empty() ? Result<>{} : judge_archived(transaction, open);
  }

  void judge(Task row, const Outcome& outcome) {
    Transition shown = outcome.transition;
    if (planted(PlantedBug::kApplyWithoutFence) && row.state == shown.from) {
      shown.ticket = row.ticket;
    }
    const WriteVerdict verdict = task::judge_write(row.ticket, shown.ticket);
    if (verdict == WriteVerdict::kAlreadyApplied) {
      answers_[row.id] = {.verdict = verdict, .state = row.state};
    } else if (verdict == WriteVerdict::kApply && row.state == shown.from) {
      const Transition change = task::carry_out(shown, row.requested);
      applied(outcome, change, row.requested && change.move == row.requested ? "as requested" : "");
      requested_.changed(task::apply(std::move(row), change), shown.from, retention_, books_);
    } else {
      refuse(outcome);
    }
  }

  Result<> judge_archived(Transaction& transaction, std::map<TaskId, const Outcome*>& open) {
    std::vector<TaskId> ids;
    for (const auto& [id, outcome] : open) ids.push_back(id);
    const auto archived = transaction.find_archived(ids);
    if (!archived) return fail(archived.error());
    for (const ArchivedTicket& row : *archived) {
      const Ticket& shown = open.at(row.task)->transition.ticket;
      if (task::judge_write(row.ticket, shown) != WriteVerdict::kAlreadyApplied) continue;
      answers_[row.task] = {.verdict = WriteVerdict::kAlreadyApplied, .state = row.state};
      open.erase(row.task);
    }
    for (const auto& [id, outcome] : open) refuse(*outcome);
    return {};
  }

  void refuse(const Outcome& outcome) {
    const Transition& shown = outcome.transition;
    answers_[shown.task] = {.verdict = WriteVerdict::kRefused, .state = std::nullopt};
    books_.noted({.at = shown.at,
                  .task = shown.task,
                  .actor = outcome.attempt ? outcome.attempt->owner : "engine",
                  .action = "write_refused",
                  .detail = std::string(task::to_string(shown.move)) +
                            " came too late: somebody else has the task",
                  .fence = shown.ticket.fence});
  }

  using Ticket = task::Ticket;

  const Retention& retention_;
  std::vector<Outcome> outcomes_;
  std::map<TaskId, Applied> answers_;
  ChangedRows requested_;
  Books books_;
};

}  // namespace

Result<std::vector<Applied>> TransactionalStore::apply(std::span<const Outcome> batch,
                                                       Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  ApplyRun run(batch, retention_);
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, run); !ran) {
    return fail(ran.error());
  }
  std::vector<Applied> answers;
  answers.reserve(batch.size());
  for (const Outcome& outcome : batch) answers.push_back(run.answer(outcome.transition.task));
  return answers;
}

Result<std::vector<bool>> TransactionalStore::record_starts(std::span<const Held> batch,
                                                            Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  std::vector<bool> written;
  const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within,
                                    [&](Transaction& transaction) -> Result<> {
                                      auto done = transaction.write_starts(batch);
                                      if (!done) return fail(done.error());
                                      written = std::move(*done);
                                      return {};
                                    });
  if (!ran) return fail(ran.error());
  return written;
}

Result<std::vector<std::optional<TimePoint>>> TransactionalStore::renew(std::span<const Held> batch,
                                                                        Duration lease_for,
                                                                        Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  if (Result<> valid = check_lease(lease_for); !valid) return fail(valid.error());
  std::vector<std::optional<TimePoint>> ends;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    const TimePoint end = saturating_add(*now, lease_for);
    const auto done = transaction.write_lease_ends(batch, end);
    if (!done) return fail(done.error());
    ends.clear();
    for (const bool written : *done) {
      ends.push_back(written ? std::optional(end) : std::nullopt);
    }
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  return ends;
}

}  // namespace recourse::store
