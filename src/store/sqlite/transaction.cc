#include "store/sqlite/transaction.h"

#include <algorithm>
#include <string>

#include "base/invariant.h"

namespace recourse::store::sqlite {
namespace {

using relational::Values;
using task::Transition;

constexpr std::size_t kMovedAtOnce = 32;
constexpr std::size_t kMarksAtOnce = 50;
constexpr std::size_t kMarkColumns = 3;

// The row stays inside the database: only what the transition changes is handed in.
constexpr std::string_view kCopyToArchive =
    "INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload,"
    " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff,"
    " created_at, due_at, state, retries, attempts, episode, first_started_at, deaths, fence,"
    " lease, error_code, error_message, ended_at, ended_by, expires_at)"
    " SELECT id, kind, tenant, shard_key, unique_key, priority, payload, headers, trace_parent,"
    " search_keys, max_retries, timeout_us, ?, backoff, created_at, ?, ?, ?, ?, ?, ?, ?, fence + 1,"
    " ?, ?, ?, ?, owner, ? FROM recourse_task"
    " WHERE id = ? AND fence = ? AND lease = ? AND state = ? AND requested IS NULL";

constexpr std::size_t kCopyColumns = 17;

constexpr Ulid kNoLease;

std::string insert_of(std::size_t marks) {
  std::string statement = "INSERT INTO recourse_inbox (id, task_id, expires_at) VALUES ";
  for (std::size_t i = 0; i < marks; ++i) {
    statement += i == 0 ? "(?, ?, ?)" : ", (?, ?, ?)";
  }
  return statement;
}

void add_copy(Values& values, const Finish& finish) {
  const Transition& change = *finish.transition;
  values.time(change.deadline)
      .time(change.due_at)
      .text(task::to_string(change.to))
      .integer(change.retries)
      .integer(change.attempts)
      .integer(change.episode)
      .time(change.first_started_at)
      .integer(change.deaths)
      .id(change.ends_lease ? kNoLease : change.ticket.lease.value);
  if (change.error) {
    values.text(change.error->code).text(change.error->message);
  } else {
    values.null().null();
  }
  values.time(change.at)
      .time(finish.expires_at)
      .id(change.task.value)
      .integer(change.ticket.fence.value)
      .id(change.ticket.lease.value)
      .text(task::to_string(change.from));
}

// Is there anything due of this priority?
std::string ask_priorities() {
  std::string statement;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    const std::string number = std::to_string(priority);
    statement.append(statement.empty() ? "" : " UNION ALL ").append("SELECT ").append(number);
    statement.append(" WHERE EXISTS (SELECT 1 FROM recourse_task WHERE kind = ?1 AND priority = ");
    statement.append(number).append(" AND available_at <= ?2)");
  }
  return statement;
}

}  // namespace

Result<std::vector<int>> SqliteTransaction::due_priorities(const task::Kind& kind) {
  static const std::string statement = ask_priorities();
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  Values values;
  values.text(kind.value).time(*at);
  std::vector<int> priorities;
  const Result<> asked = connection().query(statement, values.view(), [&](const sql::Row& row) {
    priorities.push_back(static_cast<int>(row.integer(0)));
  });
  if (!asked) return fail(asked.error());
  return priorities;
}

Result<> SqliteTransaction::mark_claimed(const task::Claim& claim,
                                         std::span<const task::TaskId> ids,
                                         std::span<const Probe> probes) {
  if (probes.empty()) return RelationalTransaction::mark_claimed(claim, ids, probes);
  for (const Probe& probe : probes) {
    if (Result<> marked = mark_probed(claim, probe); !marked) return marked;
  }
  return {};
}

// Nobody else writes, so that the same question finds the same rows again, and one statement that
// asks it costs less than an update row by row or a list of ids.
Result<> SqliteTransaction::mark_probed(const task::Claim& claim, const Probe& probe) {
  const std::string owner = task::to_string(claim.owner);
  Values values;
  values.time(claim.lease_end.value_or(kNever)).id(claim.lease.value).text(owner);
  values.time(claim.lease_end);
  if (Result<> added = add_probe(values, probe); !added) return added;
  const auto done = connection().execute(
      "UPDATE recourse_task" + std::string(relational::kSetClaimed) + " WHERE rowid IN (" +
          probe_text(kDialect, "rowid", probe.shards) + ")",
      values.view());
  if (!done) return fail(done.error());
  invariant(*done == static_cast<std::int64_t>(probe.found), "what was read is what is claimed");
  return {};
}

Result<std::vector<bool>> SqliteTransaction::move_to_archive(std::span<const Finish> finishes) {
  Values values;
  values.reserve(finishes.size() * kCopyColumns);
  for (const Finish& finish : finishes) add_copy(values, finish);
  const auto copied = connection().execute_many(kCopyToArchive, kCopyColumns, values.view());
  if (!copied) return fail(copied.error());
  return *copied == std::ssize(finishes) ? delete_all(finishes) : delete_copied(finishes);
}

Result<std::vector<bool>> SqliteTransaction::write_finishes(std::span<const Finish> finishes) {
  std::vector<bool> done;
  done.reserve(finishes.size());
  // A few at a time: what was copied is deleted while the processor still has it at hand.
  for (std::size_t from = 0; from < finishes.size(); from += kMovedAtOnce) {
    const auto some = finishes.subspan(from, std::min(kMovedAtOnce, finishes.size() - from));
    const auto moved = move_to_archive(some);
    if (!moved) return fail(moved.error());
    done.insert(done.end(), moved->begin(), moved->end());
  }
  if (Result<> freed = release_keys_of(finishes, done); !freed) return fail(freed.error());
  return done;
}

Result<std::vector<bool>> SqliteTransaction::delete_all(std::span<const Finish> finishes) {
  Values ids;
  ids.reserve(finishes.size());
  for (const Finish& finish : finishes) ids.id(finish.transition->task.value);
  const auto deleted =
      connection().execute_many("DELETE FROM recourse_task WHERE id = ?", 1, ids.view());
  if (!deleted) return fail(deleted.error());
  return std::vector<bool>(finishes.size(), true);
}

// Hopeful: nearly always none of them is there, and many rows a statement cost half of what they
// cost one by one.
Result<std::vector<bool>> SqliteTransaction::insert_marks(std::span<const NewMark> marks) {
  std::vector<bool> fresh;
  fresh.reserve(marks.size());
  while (!marks.empty()) {
    const auto some = marks.first(marks.size() < kMarksAtOnce ? 1 : kMarksAtOnce);
    const Result<> inserted = insert_absent(some);
    if (!inserted && inserted.error().code != ErrorCode::kConflict) return fail(inserted.error());
    if (inserted) {
      fresh.insert(fresh.end(), some.size(), true);
    } else if (some.size() == 1) {
      fresh.push_back(false);
    } else if (Result<> each = insert_each(some, fresh); !each) {
      return fail(each.error());
    }
    marks = marks.subspan(some.size());
  }
  return fresh;
}

// One by one: each says whether it was new.
Result<> SqliteTransaction::insert_each(std::span<const NewMark> marks, std::vector<bool>& fresh) {
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Result<> inserted = insert_absent(marks.subspan(i, 1));
    if (!inserted && inserted.error().code != ErrorCode::kConflict) return inserted;
    fresh.push_back(inserted.has_value());
  }
  return {};
}

Result<> SqliteTransaction::insert_absent(std::span<const NewMark> marks) {
  static const std::string many = insert_of(kMarksAtOnce);
  static const std::string one = insert_of(1);
  const TimePoint at = clock_.now();
  Values values;
  values.reserve(marks.size() * kMarkColumns);
  for (const NewMark& mark : marks) {
    values.bytes(mark.key->value);
    if (mark.task) {
      values.id(mark.task->value);
    } else {
      values.null();
    }
    values.time(saturating_add(at, mark.keep_for));
  }
  const auto inserted =
      connection().execute(marks.size() == kMarksAtOnce ? many : one, values.view());
  return inserted ? Result<>() : fail(inserted.error());
}

// Nobody else writes: what meets the copy's condition now is what was copied.
Result<std::vector<bool>> SqliteTransaction::delete_copied(std::span<const Finish> finishes) {
  std::vector<bool> done;
  for (const Finish& finish : finishes) {
    const Transition& change = *finish.transition;
    Values values;
    values.id(change.task.value)
        .integer(change.ticket.fence.value)
        .id(change.ticket.lease.value)
        .text(task::to_string(change.from));
    const auto deleted = connection().execute(
        "DELETE FROM recourse_task"
        " WHERE id = ? AND fence = ? AND lease = ? AND state = ? AND requested IS NULL",
        values.view());
    if (!deleted) return fail(deleted.error());
    done.push_back(*deleted == 1);
  }
  return done;
}

}  // namespace recourse::store::sqlite
