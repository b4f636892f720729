#include "store/inbox.h"

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "recourse/sql.h"
#include "store/apply_run.h"
#include "store/batch.h"
#include "store/insert_run.h"
#include "store/transactional_inbox.h"

namespace recourse::store {
namespace {

Result<> check(const MessageKey& key) {
  return FieldChecks("message")
      .between("key (bytes)", key.value.size(), std::size_t{1}, kMessageKeyBytesMax)
      .result();
}

Result<> check_rows(std::size_t rows) {
  return FieldChecks("batch").between("rows", rows, std::size_t{1}, kBatchRowsMax).result();
}

Result<> check(std::span<const MessageKey> keys) {
  if (Result<> rows = check_rows(keys.size()); !rows) return rows;
  for (const MessageKey& key : keys) {
    if (Result<> valid = check(key); !valid) return valid;
  }
  return {};
}

// The outcome is one of this very task, as it is born.
bool is_of_birth(const Outcome& tried, const Submission& task) {
  const task::Transition& change = tried.transition;
  return change.task == task.id && change.ticket == birth_ticket(task) &&
         change.from == task::State::kRunning && change.account == task::account_of(task.spec);
}

Result<> check(const Dealt& item) {
  if (Result<> valid = check(item.key); !valid) return valid;
  const bool has_key = item.task && !item.task->spec.unique_key.value.empty();
  return FieldChecks("message")
      .between("keep_for", item.keep_for, Duration(1), kLongestWait)
      .require(!has_key, "task", "must have no unique key: the message's own is the one")
      .require(!item.tried || (item.task && is_of_birth(*item.tried, *item.task)), "tried",
               "must be of the task that is marked with it, under the ticket of its birth")
      .result();
}

Result<> check(std::span<const Dealt> batch) {
  if (Result<> rows = check_rows(batch.size()); !rows) return rows;
  std::vector<const Submission*> tasks;
  std::vector<const Outcome*> tried;
  for (const Dealt& item : batch) {
    if (Result<> valid = check(item); !valid) return valid;
    if (item.task) tasks.push_back(&*item.task);
    if (item.tried) tried.push_back(&*item.tried);
  }
  if (!tasks.empty()) {
    if (Result<> valid = check(tasks); !valid) return valid;
  }
  return tried.empty() ? Result<>() : check(tried);
}

// Ascending: two batches never wait for each other in a circle.
std::vector<const Dealt*> by_key(std::span<const Dealt> batch) {
  std::vector<const Dealt*> items = pointers_to(batch);
  const auto key_of = [](const Dealt* item) -> const MessageKey& { return item->key; };
  // Brokers count up.
  if (!std::ranges::is_sorted(items, {}, key_of)) std::ranges::sort(items, {}, key_of);
  return items;
}

std::vector<MessageKey> sorted(std::span<const MessageKey> keys) {
  std::vector<MessageKey> ascending(keys.begin(), keys.end());
  std::ranges::sort(ascending);
  const auto rest = std::ranges::unique(ascending);
  ascending.erase(rest.begin(), rest.end());
  return ascending;
}

std::optional<task::TaskId> task_of(const Dealt& item) {
  return item.task ? std::optional(item.task->id) : std::nullopt;
}

// One try at a batch, in one transaction.
class MarkRun {
 public:
  // Refers to the batch, by ascending keys.
  MarkRun(std::vector<const Dealt*> items, const Dealt* first, const Retention& retention)
      : items_(std::move(items)), first_(first), retention_(retention), offered_(items_.size()) {}

  Result<> operator()(Transaction& transaction) {
    // After a lost reply its tasks may be there although their marks are not: somebody has
    // forgotten them since.
    const Novelty novelty = std::exchange(has_run_, true) ? Novelty::kRepeat : Novelty::kFresh;
    answers_.assign(items_.size(), Marked());
    fresh_.clear();
    if (Result<> step = insert_marks(transaction); !step) return step;
    if (Result<> step = insert_tasks(transaction, novelty); !step) return step;
    for (const Dealt* item : fresh_) offered_[place_of(*item)] = true;
    return {};
  }

  [[nodiscard]] std::vector<Marked> answers() const { return answers_; }

 private:
  [[nodiscard]] std::size_t place_of(const Dealt& item) const {
    return static_cast<std::size_t>(&item - first_);
  }
  Marked& answer_to(const Dealt& item) { return answers_[place_of(item)]; }

  // Whether it is the mark that an earlier try of this call has written, whose reply was lost. A
  // task was made for this call. A mark without one looks like anybody's; but that the message is
  // done is what it was to say.
  [[nodiscard]] bool is_own(const Dealt& item, const Seen& seen) const {
    return offered_[place_of(item)] && seen.task == task_of(item);
  }

  Result<> insert_marks(Transaction& transaction) {
    std::vector<NewMark> marks;
    marks.reserve(items_.size());
    for (const Dealt* item : items_) {
      marks.push_back({.key = &item->key, .task = task_of(*item), .keep_for = item->keep_for});
    }
    const auto fresh = transaction.insert_marks(marks);
    if (!fresh) return fail(fresh.error());
    std::vector<const Dealt*> known;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!(*fresh)[i]) {
        known.push_back(items_[i]);
        continue;
      }
      fresh_.push_back(items_[i]);
      answer_to(*items_[i]) = {.is_new = true, .seen = {.task = marks[i].task}};
    }
    return known.empty() ? Result<>() : read_known(transaction, known);
  }

  Result<> read_known(Transaction& transaction, const std::vector<const Dealt*>& known) {
    std::vector<MessageKey> keys;
    keys.reserve(known.size());
    for (const Dealt* item : known) keys.push_back(item->key);
    const auto found = transaction.find_marks(keys);
    if (!found) return fail(found.error());
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!(*found)[i])
        return fail(ErrorCode::kConflict, "a mark was deleted just now: look again");
      const Seen& seen = *(*found)[i];
      answer_to(*known[i]) = {.is_new = is_own(*known[i], seen), .seen = seen};
    }
    return {};
  }

  Result<> insert_tasks(Transaction& transaction, Novelty novelty) {
    std::vector<const Dealt*> going_on;
    std::vector<const Submission*> tasks;
    for (const Dealt* item : fresh_) {
      if (!item->task) continue;
      going_on.push_back(item);
      tasks.push_back(&*item->task);
    }
    if (tasks.empty()) return {};
    InsertRun insert(tasks, novelty, KeyPatience::kBriefly);
    if (Result<> inserted = insert(transaction); !inserted) return inserted;
    const std::vector<Inserted> inserted = insert.answers();
    std::vector<const Outcome*> tried;
    std::vector<MessageKey> forgotten;
    for (std::size_t i = 0; i < going_on.size(); ++i) {
      if (going_on[i]->tried && inserted[i].still_mine) tried.push_back(&*going_on[i]->tried);
      if (inserted[i].result == Insertion::kRepeated) forgotten.push_back(going_on[i]->key);
    }
    if (Result<> step = leave_forgotten(transaction, forgotten); !step) return step;
    if (tried.empty()) return {};
    ApplyRun apply(tried, retention_);
    return apply(transaction);
  }

  // Whoever forgot the mark of a task that is there wants the message to be dealt with anew: under
  // a mark of ours its next delivery would be skipped, and lost.
  static Result<> leave_forgotten(Transaction& transaction, const std::vector<MessageKey>& keys) {
    if (keys.empty()) return {};
    const Result<std::size_t> deleted = transaction.delete_marks(keys);
    return deleted ? Result<>() : fail(deleted.error());
  }

  const std::vector<const Dealt*> items_;
  const Dealt* first_;
  const Retention& retention_;
  bool has_run_ = false;
  std::vector<Marked> answers_;  // in the order of the batch
  std::vector<const Dealt*> fresh_;
  // In that order too: what an earlier try has written up to its COMMIT.
  std::vector<bool> offered_;
};

}  // namespace

Result<std::vector<std::optional<Seen>>> TransactionalInbox::look_up(
    std::span<const MessageKey> keys, Duration within) {
  if (Result<> valid = check(keys); !valid) return fail(valid.error());
  return find(keys, within);
}

Result<std::vector<std::optional<Seen>>> TransactionalInbox::find(std::span<const MessageKey> keys,
                                                                  Duration within) {
  std::vector<std::optional<Seen>> seen;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        auto found = transaction.find_marks(keys);
        if (!found) return Result<>(fail(found.error()));
        seen = *std::move(found);
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return seen;
}

Result<std::vector<Marked>> TransactionalInbox::mark(std::span<const Dealt> batch,
                                                     Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  std::vector<const Dealt*> items = by_key(batch);
  const auto same_key = [](const Dealt* one, const Dealt* other) { return one->key == other->key; };
  if (std::ranges::adjacent_find(items, same_key) != items.end()) {
    return fail(ErrorCode::kInvalid, "batch: keys must be distinct: send each message once");
  }
  MarkRun run(std::move(items), batch.data(), retention_);
  const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, run);
  if (ran) return run.answers();
  if (ran.error().code != ErrorCode::kExhausted) return fail(ran.error());
  return fail(ErrorCode::kUnavailable,
              "another transaction has marked one of these messages and is still open");
}

Result<std::size_t> TransactionalInbox::forget(std::span<const MessageKey> keys, Duration within) {
  if (Result<> valid = check(keys); !valid) return fail(valid.error());
  const std::vector<MessageKey> ascending = sorted(keys);
  std::size_t forgotten = 0;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<std::size_t> deleted = transaction.delete_marks(ascending);
        if (!deleted) return Result<>(fail(deleted.error()));
        forgotten = *deleted;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return forgotten;
}

Result<std::size_t> TransactionalInbox::sweep(std::size_t limit, Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  std::size_t swept = 0;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        const Result<std::size_t> deleted = transaction.delete_marks_before(*now, limit);
        if (!deleted) return Result<>(fail(deleted.error()));
        swept = *deleted;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return swept;
}

Result<> mark_within(Guest& guest, const MessageKey& key, TimePoint expires_at) {
  if (Result<> valid = check(key); !valid) return valid;
  const auto marked =
      guest.execute("INSERT INTO recourse_inbox (id, task_id, expires_at) VALUES (?, NULL, ?)",
                    {SqlBytes{key.value}, std::int64_t{expires_at.time_since_epoch().count()}});
  return marked ? Result<>() : fail(marked.error());
}

}  // namespace recourse::store
