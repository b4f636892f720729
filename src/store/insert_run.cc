#include "store/insert_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/invariant.h"
#include "base/planted_bug.h"
#include "store/batch.h"
#include "store/books.h"
#include "task/transition.h"

namespace recourse::store {
namespace {

using task::Account;
using task::TaskId;

// Only what the claim of its birth makes of it.
task::Task claimed_at_birth(const Submission& item) {
  task::Task born;
  if (!item.claim) return born;
  return task::apply(std::move(born), task::Claim{.owner = item.claim->owner,
                                                  .lease = item.claim->lease,
                                                  .lease_end = std::nullopt});
}

NewTask newborn(const Submission& item) {
  task::Task born = claimed_at_birth(item);
  return {.id = item.id,
          .spec = &item.spec,
          .delay = item.delay,
          .state = born.state,
          .ticket = born.ticket,
          .owner = std::move(born.owner)};
}

}  // namespace

std::optional<task::Ticket> birth_ticket(const Submission& item) {
  return item.claim ? std::optional(claimed_at_birth(item).ticket) : std::nullopt;
}

InsertRun::InsertRun(const std::vector<const Submission*>& items, Novelty novelty,
                     KeyPatience patience)
    : novelty_(novelty), patience_(patience) {
  items_.reserve(items.size());
  by_id_.reserve(items.size());
  for (const Submission* item : items) {
    by_id_.push_back(&items_.emplace_back(Item{.submission = item, .answer = std::nullopt}));
  }
  std::ranges::sort(by_id_, {}, [](const Item* item) { return item->submission->id; });
}

Result<> InsertRun::operator()(Transaction& transaction) {
  // What is run again because its reply was lost may have been finished in the meantime.
  if (std::exchange(has_run_, true)) novelty_ = Novelty::kRepeat;
  for (Item& item : items_) item.answer.reset();
  // Repeats first: neither what is finished nor what is there takes a key again.
  if (novelty_ == Novelty::kRepeat) {
    if (Result<> step = leave_out_archived(transaction); !step) return step;
    if (Result<> step = leave_out_live(transaction); !step) return step;
  }
  if (Result<> step = take_keys(transaction); !step) return step;
  if (Result<> step = insert_rest(transaction); !step) return step;
  if (Result<> step = leave_out_live(transaction); !step) return step;
  // Neither new nor there: it was there, and has been finished since.
  for (Item& item : items_) {
    if (!item.answer) answer(item, Insertion::kRepeated, item.submission->id);
  }
  if (Result<> step = undo_resurrected(transaction); !step) return step;
  return count(transaction);
}

std::vector<Inserted> InsertRun::answers() const {
  std::vector<Inserted> answers;
  answers.reserve(items_.size());
  for (const Item& item : items_) answers.push_back(item.answer.value());
  return answers;
}

void InsertRun::answer(Item& item, Insertion result, TaskId task, bool still_mine) {
  item.answer = {.result = result, .task = task, .still_mine = still_mine};
}

InsertRun::Item& InsertRun::item_of(const TaskId& id) {
  const auto id_of = [](const Item* item) { return item->submission->id; };
  const auto item = std::ranges::lower_bound(by_id_, id, {}, id_of);
  invariant(item != by_id_.end() && id_of(*item) == id, "only what was asked for is answered");
  return **item;
}

std::vector<TaskId> InsertRun::open_ids() const {
  std::vector<TaskId> ids;
  for (const Item* item : by_id_) {
    if (!item->answer) ids.push_back(item->submission->id);
  }
  return ids;
}

Result<> InsertRun::leave_out_archived(Transaction& transaction) {
  if (planted(PlantedBug::kRepeatRunsAgain)) return {};
  const auto archived = transaction.find_archived(open_ids());
  if (!archived) return fail(archived.error());
  for (const ArchivedTicket& row : *archived) {
    answer(item_of(row.task), Insertion::kRepeated, row.task);
  }
  return {};
}

// What is there already may still be the submitter's own.
Result<> InsertRun::leave_out_live(Transaction& transaction) {
  const std::vector<TaskId> ids = open_ids();
  if (ids.empty()) return {};
  const auto rows = transaction.lock(ids);
  if (!rows) return fail(rows.error());
  for (const task::Task& row : *rows) {
    Item& item = item_of(row.id);
    const task::Task born = claimed_at_birth(*item.submission);
    const bool mine = born.owner && row.owner == born.owner && row.ticket == born.ticket;
    answer(item, Insertion::kRepeated, row.id, mine);
  }
  return {};
}

Result<> InsertRun::take_keys(Transaction& transaction) {
  std::map<Account, TaskId> first;
  for (const Item& item : items_) {
    const Submission& submission = *item.submission;
    if (!item.answer && !submission.spec.unique_key.value.empty()) {
      first.try_emplace(task::account_of(submission.spec), submission.id);
    }
  }
  if (first.empty()) return {};
  std::vector<KeyHolder> wanted;
  for (const auto& [account, id] : first) wanted.push_back({.account = account, .task = id});
  const auto holders = transaction.take_keys(wanted, patience_);
  if (!holders) return fail(holders.error());
  for (std::size_t i = 0; i < wanted.size(); ++i) first[wanted[i].account] = (*holders)[i];
  for (Item& item : items_) {
    if (item.answer) continue;
    const auto holder = first.find(task::account_of(item.submission->spec));
    if (holder == first.end() || holder->second == item.submission->id) continue;
    answer(item, Insertion::kKeyTaken, holder->second);
  }
  return {};
}

Result<> InsertRun::insert_rest(Transaction& transaction) {
  // Keys ascend, then ids: two batches never wait for each other in a circle.
  std::vector<NewTask> born;
  std::vector<Item*> open;
  born.reserve(by_id_.size());
  open.reserve(by_id_.size());
  for (Item* item : by_id_) {
    if (item->answer) continue;
    born.push_back(newborn(*item->submission));
    open.push_back(item);
  }
  if (born.empty()) {
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    now_ = *now;
    return {};
  }
  const auto inserted = transaction.insert_tasks(born);
  if (!inserted) return fail(inserted.error());
  now_ = inserted->now;
  for (std::size_t i = 0; i < born.size(); ++i) {
    if (!inserted->fresh[i]) continue;
    answer(*open[i], Insertion::kInserted, born[i].id, born[i].owner.has_value());
  }
  return {};
}

// A task that was finished between the look into the archive and the insert was inserted a second
// time; this statement sees the archive as it is now.
Result<> InsertRun::undo_resurrected(Transaction& transaction) {
  if (planted(PlantedBug::kRepeatRunsAgain)) return {};
  std::vector<TaskId> fresh;
  for (const Item* item : by_id_) {
    if (item->answer->result != Insertion::kInserted) continue;
    const TaskId id = item->submission->id;
    // A fresh insert may arrive so late that its submitter has repeated it, and the repeat is done.
    const Duration age = now_ - created_at(id.value);
    if (novelty_ == Novelty::kFresh && std::chrono::abs(age) <= kFreshFor) continue;
    fresh.push_back(id);
  }
  if (fresh.empty()) return {};
  const auto archived = transaction.find_archived(fresh);
  if (!archived || archived->empty()) return archived ? Result<>{} : fail(archived.error());
  std::vector<TaskId> back;
  std::vector<Account> accounts;
  for (const ArchivedTicket& row : *archived) {
    Item& item = item_of(row.task);
    answer(item, Insertion::kRepeated, row.task);
    back.push_back(row.task);
    const task::TaskSpec& spec = item.submission->spec;
    if (!spec.unique_key.value.empty()) accounts.push_back(task::account_of(spec));
  }
  std::ranges::sort(back);
  if (Result<> removed = transaction.remove_tasks(back); !removed) return removed;
  return accounts.empty() ? Result<>{} : transaction.release_keys(accounts);
}

Result<> InsertRun::count(Transaction& transaction) {
  Books books;
  for (const Item& item : items_) {
    if (item.answer->result != Insertion::kInserted) continue;
    const Submission& born = *item.submission;
    books.appeared(born.spec.kind, born.claim ? task::State::kRunning : task::State::kPending);
  }
  return books.write(transaction);
}

Result<InsertAnswer> insert_within(Transaction& transaction, std::span<const Submission> batch) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  if (std::ranges::any_of(batch, [](const Submission& item) { return item.claim.has_value(); })) {
    return fail(ErrorCode::kInvalid,
                "a task submitted in a caller's transaction cannot be born claimed: nobody could "
                "run it before the commit");
  }
  InsertRun run(pointers_to(batch), Novelty::kRepeat, KeyPatience::kUntilDeadline);
  if (Result<> ran = run(transaction); !ran) return fail(ran.error());
  return InsertAnswer{.now = run.now(), .items = run.answers()};
}

}  // namespace recourse::store
