#include "store/relational/inbox.h"

#include <algorithm>
#include <string>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

void add_marks(Values& values, std::span<const NewMark> marks, TimePoint now) {
  values.reserve(marks.size() * 3);
  for (const NewMark& mark : marks) {
    values.bytes(mark.key->value);
    if (mark.task) {
      values.id(mark.task->value);
    } else {
      values.null();
    }
    values.time(saturating_add(now, mark.keep_for));
  }
}

}  // namespace

void FoundMarks::add(const sql::Row& row) {
  Seen seen;
  if (!row.is_null(1)) seen.task = task::TaskId(read_ulid(row.bytes(1)));
  found_.emplace(MessageKey(std::string(row.bytes(0))), seen);
}

Marks FoundMarks::in_order_of(std::span<const MessageKey> keys) const {
  Marks seen(keys.size());
  if (found_.empty()) return seen;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = found_.find(keys[i]);
    if (found != found_.end()) seen[i] = found->second;
  }
  return seen;
}

Result<Marks> find_marks(sql::Connection& connection, const Dialect& dialect,
                         std::span<const MessageKey> keys) {
  Values values;
  fill_list(values, keys, [](Values& list, const MessageKey& key) { list.bytes(key.value); });
  FoundMarks found;
  const Result<> asked =
      connection.query("SELECT id, task_id FROM " + std::string(dialect.mark_by_id) +
                           " WHERE id IN " + list_of(keys.size()),
                       values.view(), [&](const sql::Row& row) { found.add(row); });
  if (!asked) return fail(asked.error());
  return found.in_order_of(keys);
}

Result<Marks> RelationalInbox::find(std::span<const MessageKey> keys, Duration within) {
  Marks marks;
  const Result<> asked = line_.read(within, [&](sql::Connection& connection) {
    auto found = finder_(connection, line_.dialect(), keys);
    if (!found) return Result<>(fail(found.error()));
    marks = *std::move(found);
    return Result<>();
  });
  if (!asked) return fail(asked.error());
  return marks;
}

Result<Marks> RelationalTransaction::find_marks(std::span<const MessageKey> keys) {
  return relational::find_marks(connection(), seat().dialect, keys);
}

// Hopeful: what is there already fails it, and the next run looks first.
Result<std::vector<bool>> RelationalTransaction::insert_marks(std::span<const NewMark> marks) {
  std::vector<bool> fresh(marks.size(), true);
  std::vector<NewMark> absent(marks.begin(), marks.end());
  if (care() == Care::kCareful) {
    std::vector<MessageKey> keys;
    for (const NewMark& mark : marks) keys.push_back(*mark.key);
    const auto there = find_marks(keys);
    if (!there) return fail(there.error());
    absent.clear();
    for (std::size_t i = 0; i < marks.size(); ++i) {
      fresh[i] = !(*there)[i];
      if (fresh[i]) absent.push_back(marks[i]);
    }
  }
  if (absent.empty()) return fresh;
  const Result<TimePoint> at = now();
  if (!at) return fail(at.error());
  Values values;
  add_marks(values, absent, *at);
  const auto inserted = connection().execute_many(
      "INSERT INTO recourse_inbox (id, task_id, expires_at) VALUES (?, ?, ?)", 3, values.view());
  if (!inserted) return fail(inserted.error());
  return fresh;
}

Result<std::size_t> RelationalTransaction::delete_marks(std::span<const MessageKey> keys) {
  Values values;
  fill_list(values, keys, [](Values& list, const MessageKey& key) { list.bytes(key.value); });
  const auto deleted =
      connection().execute("DELETE FROM recourse_inbox WHERE id IN " + list_of(keys.size()) +
                               std::string(seat().dialect.after_delete),
                           values.view());
  if (!deleted) return fail(deleted.error());
  return static_cast<std::size_t>(*deleted);
}

Result<std::size_t> RelationalTransaction::delete_marks_before(TimePoint time, std::size_t limit) {
  Values values;
  values.time(time).integer(static_cast<std::int64_t>(limit));
  std::vector<MessageKey> old;
  const Result<> asked = connection().query(
      "SELECT id FROM recourse_inbox WHERE expires_at <= ? ORDER BY expires_at LIMIT ?" +
          std::string(seat().dialect.skip_locked),
      values.view(), [&](const sql::Row& row) { old.emplace_back(std::string(row.bytes(0))); });
  if (!asked) return fail(asked.error());
  if (old.empty()) return std::size_t{0};
  std::ranges::sort(old);
  return delete_marks(old);
}

}  // namespace recourse::store::relational
