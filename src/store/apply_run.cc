#include "store/apply_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "base/planted_bug.h"
#include "store/batch.h"
#include "task/transition.h"

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

// What may hold a text that has to be cleaned before it is written.
bool has_text(const Outcome& outcome) {
  return outcome.attempt.has_value() || outcome.transition.error.has_value() ||
         !outcome.notes.empty();
}

}  // namespace

ApplyRun::ApplyRun(const std::vector<const Outcome*>& batch, const Retention& retention)
    : retention_(retention) {
  items_.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Outcome* outcome =
        has_text(*batch[i]) ? &cleaned_.emplace_back(cleaned(*batch[i])) : batch[i];
    items_.push_back({.outcome = outcome, .place = i, .answer = std::nullopt});
  }
  std::ranges::sort(items_, {}, &Item::id);
}

Result<> ApplyRun::operator()(Transaction& transaction) {
  for (Item& item : items_) item.answer.reset();
  books_ = {};
  requested_ = {};
  if (Result<> step = write_plainly(transaction); !step) return step;
  if (Result<> step = judge_rest(transaction); !step) return step;
  if (Result<> step = requested_.write(transaction); !step) return step;
  return books_.write(transaction);
}

std::vector<Applied> ApplyRun::answers() const {
  std::vector<Applied> answers(items_.size());
  for (const Item& item : items_) answers[item.place] = item.answer.value();
  return answers;
}

Result<> ApplyRun::write_plainly(Transaction& transaction) {
  std::vector<Item*> moving;
  std::vector<Item*> finishing;
  std::vector<const Transition*> moves;
  std::vector<Finish> finishes;
  for (Item& item : items_) {
    const Transition& change = item.change();
    // Rare, and the one write that keeps the fence: judged under a lock, below.
    if (change.move == task::Move::kLend) continue;
    if (!task::is_finished(change.to)) {
      moving.push_back(&item);
      moves.push_back(&change);
    } else {
      finishing.push_back(&item);
      finishes.push_back(
          {.transition = &change,
           .expires_at = expires_at(retention_, change.account.kind, change.to, change.at)});
    }
  }
  if (!moves.empty()) {
    const auto done = transaction.write_moves(moves);
    if (!done) return fail(done.error());
    note_written(moving, *done);
  }
  if (!finishes.empty()) {
    const auto done = transaction.write_finishes(finishes);
    if (!done) return fail(done.error());
    note_written(finishing, *done);
  }
  return {};
}

void ApplyRun::note_written(const std::vector<Item*>& items, const std::vector<bool>& written) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!written[i]) continue;
    const Transition& change = items[i]->change();
    books_.moved(change.account.kind, change.from, change.to);
    books_.turned(change.task, change.from, change.to, change.at, task::next(change.ticket.fence));
    applied(*items[i], change, "");
  }
}

void ApplyRun::applied(Item& item, const Transition& written, std::string_view why) {
  const Outcome& outcome = *item.outcome;
  item.answer = {.verdict = WriteVerdict::kApply, .state = written.to};
  if (outcome.attempt) books_.attempted(*outcome.attempt);
  books_.said(outcome.notes);
  if (why.empty() && !is_notable(written)) return;
  books_.noted({.at = written.at,
                .task = written.task,
                .actor = outcome.attempt ? outcome.attempt->owner : "engine",
                .action = std::string(task::to_string(written.move)),
                .detail = why.empty() ? told(written.error) : std::string(why),
                .fence = task::next(written.ticket.fence)});
}

ApplyRun::Item& ApplyRun::item_of(const TaskId& id) {
  const auto item = std::ranges::lower_bound(items_, id, {}, &Item::id);
  invariant(item != items_.end() && item->id() == id, "only what was asked for is answered");
  return *item;
}

std::vector<TaskId> ApplyRun::open_ids() const {
  std::vector<TaskId> ids;
  for (const Item& item : items_) {
    if (!item.answer) ids.push_back(item.id());
  }
  return ids;
}

Result<> ApplyRun::judge_rest(Transaction& transaction) {
  const std::vector<TaskId> ids = open_ids();
  if (ids.empty()) return {};
  auto rows = transaction.lock(ids);
  if (!rows) return fail(rows.error());
  // A lease begins now, and not when the answer came that asked for it: that may be an outage
  // ago.
  std::optional<TimePoint> now;
  if (std::ranges::any_of(items_,
                          [](const Item& item) { return item.change().lending.has_value(); })) {
    const Result<TimePoint> read = transaction.now();
    if (!read) return fail(read.error());
    now = *read;
  }
  for (Task& row : *rows) {
    Item& item = item_of(row.id);
    judge(std::move(row), item, now);
  }
  return rows->size() == ids.size() ? Result<>{} : judge_archived(transaction);
}

void ApplyRun::judge(Task row, Item& item, std::optional<TimePoint> now) {
  Transition shown = item.change();
  if (shown.lending) shown.at = now.value_or(shown.at);
  if (planted(PlantedBug::kApplyWithoutFence) && row.state == shown.from) {
    shown.ticket = row.ticket;
  }
  const WriteVerdict verdict = task::judge_write(row.ticket, shown.ticket);
  const bool is_lent_already = verdict == WriteVerdict::kApply && shown.lending &&
                               row.owner == task::Owner(shown.lending->worker);
  if (verdict == WriteVerdict::kAlreadyApplied || is_lent_already) {
    item.answer = {.verdict = WriteVerdict::kAlreadyApplied, .state = row.state};
  } else if (verdict == WriteVerdict::kApply && row.state == shown.from) {
    const Transition change = task::carry_out(shown, row.requested);
    applied(item, change, row.requested && change.move == row.requested ? "as requested" : "");
    requested_.changed(task::apply(std::move(row), change), shown.from, retention_, books_);
  } else {
    refuse(item);
  }
}

Result<> ApplyRun::judge_archived(Transaction& transaction) {
  const auto archived = transaction.find_archived(open_ids());
  if (!archived) return fail(archived.error());
  for (const ArchivedTicket& row : *archived) {
    Item& item = item_of(row.task);
    const task::Ticket& shown = item.change().ticket;
    if (task::judge_write(row.ticket, shown) != WriteVerdict::kAlreadyApplied) continue;
    item.answer = {.verdict = WriteVerdict::kAlreadyApplied, .state = row.state};
  }
  for (Item& item : items_) {
    if (!item.answer) refuse(item);
  }
  return {};
}

void ApplyRun::refuse(Item& item) {
  const Outcome& outcome = *item.outcome;
  const Transition& shown = outcome.transition;
  item.answer = {.verdict = WriteVerdict::kRefused, .state = std::nullopt};
  books_.noted({.at = shown.at,
                .task = shown.task,
                .actor = outcome.attempt ? outcome.attempt->owner : "engine",
                .action = "write_refused",
                .detail = std::string(task::to_string(shown.move)) +
                          " came too late: somebody else has the task",
                .fence = shown.ticket.fence});
}

}  // namespace recourse::store
