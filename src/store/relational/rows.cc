#include "store/relational/rows.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/invariant.h"
#include "base/named.h"
#include "store/shard.h"

namespace recourse::store::relational {
namespace {

using task::Task;

constexpr auto kSubmission = std::to_array<std::string_view>(
    {"id", "kind", "tenant", "shard_key", "unique_key", "priority", "payload", "headers",
     "trace_parent", "search_keys", "max_retries", "timeout_us", "deadline_at", "backoff",
     "created_at"});
constexpr auto kStanding = std::to_array<std::string_view>(
    {"due_at", "state", "retries", "attempts", "episode", "first_started_at", "deaths", "fence",
     "lease", "error_code", "error_message", "ended_at"});
constexpr auto kOwnership =
    std::to_array<std::string_view>({"start_mark", "owner", "lease_end", "requested"});
static_assert(kSubmission.size() + kStanding.size() + kOwnership.size() + 1 == kTaskColumns);

void append(std::string& list, std::span<const std::string_view> names, std::string_view table) {
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list.append(table).append(name);
  }
}

// Reads a row's columns one after the other.
class Cursor {
 public:
  explicit Cursor(const sql::Row& row) : row_(row) {}

  std::int64_t integer() { return row_.integer(column_++); }
  int small() { return static_cast<int>(integer()); }
  std::string text() { return std::string(row_.bytes(column_++)); }
  TimePoint time() { return read_time(integer()); }
  std::optional<TimePoint> maybe_time() { return read_time(row_, column_++); }
  Ulid ulid() { return read_ulid(row_.bytes(column_++)); }
  std::optional<std::string> maybe_text() {
    const std::size_t column = column_++;
    return row_.is_null(column) ? std::nullopt : std::optional(std::string(row_.bytes(column)));
  }

 private:
  const sql::Row& row_;
  std::size_t column_ = 0;
};

std::map<std::string, std::string> read_map(const std::string& json) {
  std::map<std::string, std::string> entries;
  if (json.empty()) return entries;
  const boost::json::value parsed = boost::json::parse(json);
  for (const auto& [name, value] : parsed.as_object()) {
    entries.emplace(std::string(name), std::string(value.as_string()));
  }
  return entries;
}

task::TaskSpec read_spec(Cursor& cursor) {
  task::TaskSpec spec;
  spec.kind = task::Kind(cursor.text());
  spec.tenant = task::Tenant(cursor.text());
  spec.shard_key = task::ShardKey(cursor.text());
  spec.unique_key = task::UniqueKey(cursor.text());
  spec.priority = cursor.small();
  spec.payload = cursor.text();
  spec.headers = read_map(cursor.text());
  spec.trace_parent = cursor.text();
  spec.search_keys = read_map(cursor.text());
  spec.max_retries = cursor.small();
  spec.timeout = Duration(cursor.integer());
  spec.deadline = cursor.maybe_time();
  spec.backoff = cursor.text();
  return spec;
}

task::StartMark read_start_mark(std::int64_t mark) {
  invariant(mark >= 0 && mark <= static_cast<std::int64_t>(task::StartMark::kRecorded),
            "a start mark in the store was written by us");
  return static_cast<task::StartMark>(mark);
}

std::optional<task::Owner> read_owner(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  Result<task::Owner> owner = task::parse_owner(*text);
  invariant(owner.has_value(), "an owner in the store was written by us");
  return *owner;
}

// Most tasks have none: nothing is kept for them.
void add_map(Values& values, const std::map<std::string, std::string>& entries) {
  if (entries.empty()) {
    values.text("");
  } else {
    values.kept_text(to_json(entries));
  }
}

void add_submission(Values& values, const task::TaskId& id, const task::TaskSpec& spec,
                    TimePoint created_at) {
  values.id(id.value)
      .text(spec.kind.value)
      .text(spec.tenant.value)
      .text(spec.shard_key.value)
      .text(spec.unique_key.value)
      .integer(spec.priority)
      .bytes(spec.payload);
  add_map(values, spec.headers);
  values.text(spec.trace_parent);
  add_map(values, spec.search_keys);
  values.integer(spec.max_retries)
      .integer(spec.timeout.count())
      .time(spec.deadline)
      .text(spec.backoff)
      .time(created_at);
}

void add_owner(Values& values, const std::optional<task::Owner>& owner) {
  if (owner) {
    values.kept_text(task::to_string(*owner));
  } else {
    values.null();
  }
}

void add_error(Values& values, const std::optional<task::Reason>& error) {
  if (error) {
    values.text(error->code).text(error->message);
  } else {
    values.null().null();
  }
}

}  // namespace

std::string task_columns(bool with_payload, std::string_view table) {
  std::string list;
  for (const std::string_view name : kSubmission) {
    if (!list.empty()) list += ", ";
    if (name == "payload" && !with_payload) {
      list += "'' AS payload";
    } else {
      list.append(table).append(name);
    }
  }
  append(list, kStanding, table);
  append(list, kOwnership, table);
  return list + ", NULL AS ended_by";
}

std::string archive_columns() {
  std::string list;
  append(list, kSubmission, "");
  append(list, kStanding, "");
  return list + ", 0 AS start_mark, NULL AS owner, NULL AS lease_end, NULL AS requested, ended_by";
}

Task read_task(const sql::Row& row) {
  Cursor cursor(row);
  Task task;
  task.id = task::TaskId(cursor.ulid());
  task.spec = read_spec(cursor);
  task.created_at = cursor.time();
  task.due_at = cursor.time();
  task.state = read_state(cursor.text());
  task.retries = cursor.small();
  task.attempts = cursor.small();
  task.episode = cursor.small();
  task.first_started_at = cursor.maybe_time();
  task.deaths = cursor.small();
  task.ticket.fence = task::Fence(cursor.integer());
  task.ticket.lease = task::LeaseId(cursor.ulid());
  std::optional<std::string> code = cursor.maybe_text();
  std::optional<std::string> message = cursor.maybe_text();
  if (code) task.last_error = task::Reason{std::move(*code), message.value_or("")};
  task.ended_at = cursor.maybe_time();
  task.start = read_start_mark(cursor.integer());
  task.owner = read_owner(cursor.maybe_text());
  task.lease_end = cursor.maybe_time();
  if (const auto requested = cursor.maybe_text()) task.requested = read_move(*requested);
  task.ended_by = read_owner(cursor.maybe_text());
  return task;
}

void add_new_task(Values& values, const NewTask& born, TimePoint now) {
  const TimePoint due_at = saturating_add(now, born.delay);
  add_submission(values, born.id, *born.spec, now);
  values.integer(shard_of(born.spec->shard_key))
      .time(due_at)
      .text(task::to_string(born.state))
      // What is born claimed has a node for its owner, whose leases do not end by themselves.
      .time(born.state == task::State::kPending ? due_at : kNever)
      .integer(born.ticket.fence.value)
      .id(born.ticket.lease.value);
  add_owner(values, born.owner);
}

void add_changed_task(Values& values, const Task& task) {
  values.time(task.spec.deadline).time(task.due_at).text(task::to_string(task.state));
  if (is_parked(task.state)) {
    values.text(task::to_string(task.state));
  } else {
    values.null();
  }
  values.time(task::available_at(task))
      .integer(task.retries)
      .integer(task.attempts)
      .integer(task.episode)
      .time(task.first_started_at)
      .integer(static_cast<std::int64_t>(task.start))
      .integer(task.deaths)
      .integer(task.ticket.fence.value)
      .id(task.ticket.lease.value);
  add_owner(values, task.owner);
  values.time(task.lease_end);
  if (task.requested) {
    values.text(task::to_string(*task.requested));
  } else {
    values.null();
  }
  add_error(values, task.last_error);
  values.time(task.ended_at).id(task.id.value);
}

void add_archived_task(Values& values, const Task& task, TimePoint expires_at) {
  add_submission(values, task.id, task.spec, task.created_at);
  values.time(task.due_at)
      .text(task::to_string(task.state))
      .integer(task.retries)
      .integer(task.attempts)
      .integer(task.episode)
      .time(task.first_started_at)
      .integer(task.deaths)
      .integer(task.ticket.fence.value)
      .id(task.ticket.lease.value);
  add_error(values, task.last_error);
  values.time(task.ended_at);
  add_owner(values, task.ended_by);
  values.time(expires_at);
}

std::string list_of(std::size_t count) {
  std::size_t marks = 1;
  while (marks < count) marks *= 2;
  std::string list = "(?";
  for (std::size_t i = 1; i < marks; ++i) list += ",?";
  return list + ")";
}

std::string key_of(const task::Account& account) {
  std::string key = account.tenant.value;
  key.push_back('\0');
  key += account.kind.value;
  key.push_back('\0');
  return key + account.unique_key.value;
}

std::string search_entry(std::string_view name, std::string_view value) {
  std::string entry(name);
  entry.push_back('\0');
  return entry.append(value);
}

std::string to_json(const std::map<std::string, std::string>& entries) {
  if (entries.empty()) return {};
  boost::json::object object;
  for (const auto& [name, value] : entries) object.emplace(name, value);
  return boost::json::serialize(object);
}

std::string to_json(const std::vector<task::Kind>& kinds) {
  boost::json::array array;
  for (const task::Kind& kind : kinds) array.emplace_back(kind.value);
  return boost::json::serialize(array);
}

std::vector<task::Kind> read_kinds(std::string_view json) {
  std::vector<task::Kind> kinds;
  const boost::json::value parsed = boost::json::parse(json);
  for (const auto& kind : parsed.as_array()) kinds.emplace_back(std::string(kind.as_string()));
  return kinds;
}

Ulid read_ulid(std::string_view bytes) {
  Ulid id;
  invariant(bytes.size() == id.bytes.size(), "an id in the store has 16 bytes");
  std::ranges::copy(bytes, id.bytes.begin());
  return id;
}

TimePoint read_time(std::int64_t microseconds) { return TimePoint(Duration(microseconds)); }

std::optional<TimePoint> read_time(const sql::Row& row, std::size_t column) {
  if (row.is_null(column)) return std::nullopt;
  return read_time(row.integer(column));
}

task::State read_state(std::string_view name) {
  const auto state = find_named(task::kAllStates, name);
  invariant(state.has_value(), "a state in the store was written by us");
  return *state;
}

task::Move read_move(std::string_view name) {
  const auto move = find_named(task::kAllMoves, name);
  invariant(move.has_value(), "a move in the store was written by us");
  return *move;
}

}  // namespace recourse::store::relational
