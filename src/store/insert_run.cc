#include "store/insert_run.h"

#include <algorithm>
#include <utility>

#include "base/planted_bug.h"
#include "store/batch.h"
#include "store/books.h"
#include "task/transition.h"

namespace recourse::store {
namespace {

using task::Account;
using task::TaskId;

NewTask newborn(const Submission& item) {
  NewTask born;
  born.task.id = item.id;
  born.task.spec = item.spec;
  born.delay = item.delay;
  if (item.claim) {
    born.task = task::apply(std::move(born.task), task::Claim{.owner = item.claim->owner,
                                                              .lease = item.claim->lease,
                                                              .lease_end = std::nullopt});
  }
  return born;
}

}  // namespace

InsertRun::InsertRun(std::vector<const Submission*> items, Novelty novelty, KeyPatience patience)
    : items_(std::move(items)), novelty_(novelty), patience_(patience) {}

Result<> InsertRun::operator()(Transaction& transaction) {
  // What is run again because its reply was lost may have been finished in the meantime.
  if (std::exchange(has_run_, true)) novelty_ = Novelty::kRepeat;
  answers_.clear();
  // Repeats first: neither what is finished nor what is there takes a key again.
  if (novelty_ == Novelty::kRepeat) {
    if (Result<> step = leave_out_archived(transaction); !step) return step;
    if (Result<> step = leave_out_live(transaction); !step) return step;
  }
  if (Result<> step = take_keys(transaction); !step) return step;
  if (Result<> step = insert_rest(transaction); !step) return step;
  if (Result<> step = leave_out_live(transaction); !step) return step;
  // Neither new nor there: it was there, and has been finished since.
  for (const TaskId& id : open_ids()) answer(id, Insertion::kRepeated, id);
  if (Result<> step = undo_resurrected(transaction); !step) return step;
  return count(transaction);
}

void InsertRun::answer(TaskId id, Insertion result, TaskId task, bool still_mine) {
  answers_[id] = {.result = result, .task = task, .still_mine = still_mine};
}

std::vector<TaskId> InsertRun::open_ids() const {
  std::vector<TaskId> ids;
  for (const Submission* item : open_items()) ids.push_back(item->id);
  std::ranges::sort(ids);
  return ids;
}

std::vector<const Submission*> InsertRun::open_items() const {
  std::vector<const Submission*> open;
  for (const Submission* item : items_) {
    if (!answers_.contains(item->id)) open.push_back(item);
  }
  return open;
}

Result<> InsertRun::leave_out_archived(Transaction& transaction) {
  if (planted(PlantedBug::kRepeatRunsAgain)) return {};
  const auto archived = transaction.find_archived(open_ids());
  if (!archived) return fail(archived.error());
  for (const ArchivedTicket& row : *archived) answer(row.task, Insertion::kRepeated, row.task);
  return {};
}

// What is there already may still be the submitter's own.
Result<> InsertRun::leave_out_live(Transaction& transaction) {
  const std::vector<TaskId> ids = open_ids();
  if (ids.empty()) return {};
  std::map<TaskId, const Submission*> items;
  for (const Submission* item : items_) items[item->id] = item;
  const auto rows = transaction.lock(ids);
  if (!rows) return fail(rows.error());
  for (const task::Task& row : *rows) {
    const task::Task born = newborn(*items.at(row.id)).task;
    const bool mine = born.owner && row.owner == born.owner && row.ticket == born.ticket;
    answer(row.id, Insertion::kRepeated, row.id, mine);
  }
  return {};
}

Result<> InsertRun::take_keys(Transaction& transaction) {
  std::map<Account, TaskId> first;
  for (const Submission* item : open_items()) {
    if (!item->spec.unique_key.value.empty()) {
      first.try_emplace(task::account_of(item->spec), item->id);
    }
  }
  if (first.empty()) return {};
  std::vector<KeyHolder> wanted;
  for (const auto& [account, id] : first) wanted.push_back({.account = account, .task = id});
  const auto holders = transaction.take_keys(wanted, patience_);
  if (!holders) return fail(holders.error());
  for (std::size_t i = 0; i < wanted.size(); ++i) first[wanted[i].account] = (*holders)[i];
  for (const Submission* item : open_items()) {
    const auto holder = first.find(task::account_of(item->spec));
    if (holder == first.end() || holder->second == item->id) continue;
    answer(item->id, Insertion::kKeyTaken, holder->second);
  }
  return {};
}

Result<> InsertRun::insert_rest(Transaction& transaction) {
  std::vector<NewTask> born;
  for (const Submission* item : open_items()) born.push_back(newborn(*item));
  // Keys ascend, then ids: two batches never wait for each other in a circle.
  std::ranges::sort(born, {}, [](const NewTask& item) { return item.task.id; });
  if (born.empty()) {
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    now_ = *now;
    return {};
  }
  const auto inserted = transaction.insert_tasks(born);
  if (!inserted) return fail(inserted.error());
  now_ = inserted->now;
  for (const NewTask& item : born) {
    const bool fresh = inserted->fresh.contains(item.task.id);
    if (!fresh) continue;
    answer(item.task.id, Insertion::kInserted, item.task.id, item.task.owner.has_value());
  }
  return {};
}

// A task that was finished between the look into the archive and the insert was inserted a second
// time; this statement sees the archive as it is now.
Result<> InsertRun::undo_resurrected(Transaction& transaction) {
  if (planted(PlantedBug::kRepeatRunsAgain)) return {};
  std::vector<TaskId> fresh;
  for (const auto& [id, inserted] : answers_) {
    if (inserted.result != Insertion::kInserted) continue;
    // A fresh insert may arrive so late that its submitter has repeated it, and the repeat is done.
    const Duration age = now_ - created_at(id.value);
    if (novelty_ == Novelty::kFresh && std::chrono::abs(age) <= kFreshFor) continue;
    fresh.push_back(id);
  }
  if (fresh.empty()) return {};
  const auto archived = transaction.find_archived(fresh);
  if (!archived || archived->empty()) return archived ? Result<>{} : fail(archived.error());
  std::vector<TaskId> back;
  for (const ArchivedTicket& row : *archived) {
    back.push_back(row.task);
    answer(row.task, Insertion::kRepeated, row.task);
  }
  std::ranges::sort(back);
  if (Result<> removed = transaction.remove_tasks(back); !removed) return removed;
  std::vector<Account> accounts;
  for (const Submission* item : items_) {
    if (std::ranges::binary_search(back, item->id) && !item->spec.unique_key.value.empty()) {
      accounts.push_back(task::account_of(item->spec));
    }
  }
  return accounts.empty() ? Result<>{} : transaction.release_keys(accounts);
}

Result<> InsertRun::count(Transaction& transaction) {
  Books books;
  for (const Submission* item : items_) {
    if (answers_.at(item->id).result != Insertion::kInserted) continue;
    books.appeared(item->spec.kind, item->claim ? task::State::kRunning : task::State::kPending);
  }
  return books.write(transaction);
}

InsertAnswer in_order(std::span<const Submission> batch, TimePoint now,
                      const std::map<TaskId, Inserted>& answers) {
  InsertAnswer answer{.now = now, .items = {}};
  answer.items.reserve(batch.size());
  for (const Submission& item : batch) answer.items.push_back(answers.at(item.id));
  return answer;
}

Result<InsertAnswer> insert_within(Transaction& transaction, std::span<const Submission> batch) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  if (std::ranges::any_of(batch, [](const Submission& item) { return item.claim.has_value(); })) {
    return fail(ErrorCode::kInvalid,
                "a task submitted in a caller's transaction cannot be born claimed: nobody could "
                "run it before the commit");
  }
  std::vector<const Submission*> items;
  for (const Submission& item : batch) items.push_back(&item);
  InsertRun run(std::move(items), Novelty::kRepeat, KeyPatience::kUntilDeadline);
  if (Result<> ran = run(transaction); !ran) return fail(ran.error());
  return in_order(batch, run.now(), run.answers());
}

}  // namespace recourse::store
