#include <algorithm>
#include <set>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

using task::TaskId;

// The conditions of a filter, with their values, over whichever table is asked.
struct Conditions {
  std::string text;
  Values values;

  void add(std::string_view condition) {
    text += text.empty() ? " WHERE " : " AND ";
    text += condition;
  }
};

template <class Item, class Add>
void add_list(Conditions& conditions, std::string_view column, const std::vector<Item>& items,
              Add add) {
  if (items.empty()) return;
  conditions.add(std::string(column) + " IN " + list_of(items.size()));
  fill_list(conditions.values, std::span<const Item>(items), add);
}

void add_filter(Conditions& conditions, const Search& search) {
  const Filter& filter = search.filter;
  // Not the bare column: a planner that goes by the index on kinds would have to sort a million of
  // one kind for a page of fifty.
  add_list(conditions, "COALESCE(kind, kind)", filter.kinds,
           [](Values& values, const task::Kind& kind) { values.text(kind.value); });
  if (filter.tenant) {
    conditions.add("tenant = ?");
    conditions.values.text(filter.tenant->value);
  }
  if (filter.unique_key) {
    conditions.add("unique_key = ?");
    conditions.values.text(filter.unique_key->value);
  }
  if (filter.created_from) {
    conditions.add("created_at >= ?");
    conditions.values.time(*filter.created_from);
  }
  if (filter.created_before) {
    conditions.add("created_at < ?");
    conditions.values.time(*filter.created_before);
  }
  if (search.as_of) {
    conditions.add("created_at <= ? AND (ended_at IS NULL OR ended_at <= ?)");
    conditions.values.time(*search.as_of).time(*search.as_of);
  }
}

void add_states(Conditions& conditions, const std::vector<task::State>& states) {
  add_list(conditions, "state", states,
           [](Values& values, task::State state) { values.text(task::to_string(state)); });
}

// Ids are at most 16 bytes of 255, so this is after them all.
const Ulid kLastId = [] {
  Ulid id;
  id.bytes.fill(0xFF);
  return id;
}();

Ulid start_of(const Search& search) { return search.after ? search.after->value : kLastId; }

Result<Transaction::Found> run(sql::Connection& connection, const std::string& statement,
                               const Values& values, std::size_t limit) {
  Transaction::Found found;
  const Result<> asked = connection.query(statement, values.view(), [&](const sql::Row& row) {
    found.ids.emplace_back(read_ulid(row.bytes(0)));
  });
  if (!asked) return fail(asked.error());
  if (found.ids.size() == limit) found.next = found.ids.back();
  return found;
}

// The index on search keys yields the ids in order.
Result<Transaction::Found> find_by_search_key(sql::Connection& connection, const std::string& table,
                                              const Search& search) {
  const auto& [name, value] = *search.filter.search_key;
  Conditions conditions;
  conditions.add("entry = ?");
  conditions.values.kept_bytes(search_entry(name, value));
  const Ulid start = start_of(search);
  conditions.add("task_id < ?");
  conditions.values.id(start);
  add_filter(conditions, search);
  add_states(conditions, search.filter.states);
  conditions.values.integer(static_cast<std::int64_t>(search.limit));
  return run(connection,
             "SELECT task_id FROM recourse_search JOIN " + table + " ON id = task_id" +
                 conditions.text + " ORDER BY task_id DESC LIMIT ?",
             conditions.values, search.limit);
}

// Paused, dead and failed tasks have an index of their own.
Result<Transaction::Found> find_parked(sql::Connection& connection, task::State state,
                                       const Search& search) {
  Conditions conditions;
  conditions.add("parked = ?");
  conditions.values.text(task::to_string(state));
  const Ulid start = start_of(search);
  conditions.add("id < ?");
  conditions.values.id(start);
  add_filter(conditions, search);
  conditions.values.integer(static_cast<std::int64_t>(search.limit));
  return run(connection,
             "SELECT id FROM recourse_task" + conditions.text + " ORDER BY id DESC LIMIT ?",
             conditions.values, search.limit);
}

// Where a bounded look ends; empty where the table ends before. Asked for before the look, so that
// rows which leave the table in between do not move it.
Result<std::optional<TaskId>> end_of_look(sql::Connection& connection, const std::string& table,
                                          const Ulid& start) {
  std::optional<TaskId> end;
  Values values;
  values.id(start).integer(static_cast<std::int64_t>(kPageLooksMax - 1));
  const Result<> asked = connection.query(
      "SELECT id FROM " + table + " WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?", values.view(),
      [&](const sql::Row& row) { end = TaskId(read_ulid(row.bytes(0))); });
  if (!asked) return fail(asked.error());
  return end;
}

// No index serves the filter: look through a bounded stretch of the newest.
Result<Transaction::Found> find_by_looking(sql::Connection& connection, const std::string& table,
                                           const Search& search) {
  const Ulid start = start_of(search);
  Conditions conditions;
  conditions.add("id < ?");
  conditions.values.id(start);
  const std::size_t unfiltered = conditions.text.size();
  add_filter(conditions, search);
  add_states(conditions, search.filter.states);
  std::optional<TaskId> end;
  // Without a filter every row is a match, and the limit is the bound.
  if (conditions.text.size() > unfiltered) {
    Result<std::optional<TaskId>> looked = end_of_look(connection, table, start);
    if (!looked) return fail(looked.error());
    end = *looked;
  }
  if (end) {
    conditions.add("id >= ?");
    conditions.values.id(end->value);
  }
  conditions.values.integer(static_cast<std::int64_t>(search.limit));
  auto found =
      run(connection, "SELECT id FROM " + table + conditions.text + " ORDER BY id DESC LIMIT ?",
          conditions.values, search.limit);
  if (found && !found->next) found->next = end;
  return found;
}

// Several sorted finds as one. Where one of them stopped early, nothing older than its stop may be
// shown yet.
Transaction::Found merge(std::vector<Transaction::Found> parts, std::size_t limit) {
  Transaction::Found all;
  for (Transaction::Found& part : parts) {
    std::ranges::move(part.ids, std::back_inserter(all.ids));
    if (part.next && (!all.next || *part.next > *all.next)) all.next = part.next;
  }
  std::ranges::sort(all.ids, std::greater{});
  if (all.next) std::erase_if(all.ids, [&](const TaskId& id) { return id < *all.next; });
  if (all.ids.size() > limit) all.ids.resize(limit);
  if (all.ids.size() == limit) all.next = all.ids.back();
  return all;
}

}  // namespace

Result<Transaction::Found> find_in_task(sql::Connection& connection, const Search& search) {
  const std::vector<task::State>& states = search.filter.states;
  if (search.filter.search_key) return find_by_search_key(connection, "recourse_task", search);
  if (states.empty() || !std::ranges::all_of(states, is_parked)) {
    return find_by_looking(connection, "recourse_task", search);
  }
  std::vector<Transaction::Found> parts;
  for (const task::State state : states) {
    auto part = find_parked(connection, state, search);
    if (!part) return part;
    parts.push_back(std::move(*part));
  }
  return merge(std::move(parts), search.limit);
}

Result<Transaction::Found> find_in_archive(sql::Connection& connection, const Search& search) {
  if (search.filter.search_key) return find_by_search_key(connection, "recourse_archive", search);
  return find_by_looking(connection, "recourse_archive", search);
}

Result<Transaction::Found> find_everywhere(sql::Connection& connection, const Search& search) {
  const std::vector<task::State>& states = search.filter.states;
  const bool live = states.empty() || !std::ranges::all_of(states, task::is_finished);
  const bool finished = states.empty() || std::ranges::any_of(states, task::is_finished);
  std::vector<Transaction::Found> parts;
  if (live) {
    auto part = find_in_task(connection, search);
    if (!part) return part;
    parts.push_back(std::move(*part));
  }
  if (finished) {
    auto part = find_in_archive(connection, search);
    if (!part) return part;
    parts.push_back(std::move(*part));
  }
  return merge(std::move(parts), search.limit);
}

Result<Transaction::Found> RelationalTransaction::find_live(const ByFilter& which) {
  return find_in_task(
      connection(),
      {.filter = which.filter, .as_of = which.as_of, .after = which.after, .limit = which.limit});
}

Result<std::vector<task::Task>> RelationalTransaction::lock_owned(const task::Owner& owner,
                                                                  std::size_t limit) {
  const std::string name = task::to_string(owner);
  Values values;
  values.text(name).integer(static_cast<std::int64_t>(limit));
  return tasks_of("SELECT " + task_columns(false) + " FROM " +
                      std::string(seat_.dialect.task_by_owner) + " WHERE owner = ? LIMIT ?" +
                      std::string(seat_.dialect.skip_locked),
                  values);
}

// Owners first, nodes afterwards: a node joins before it claims, so whoever owned something at the
// first look has its row at the second. The other way round, a node that joined and claimed in
// between would be taken for unknown, and robbed.
Result<std::vector<task::Incarnation>> RelationalTransaction::lifeless_owners() {
  Result<std::vector<task::Incarnation>> owners = owning_nodes();
  if (!owners) return owners;
  std::set<task::Incarnation> alive;
  const Result<> asked =
      connection().query("SELECT incarnation FROM recourse_node WHERE dead = 0", {},
                         [&](const sql::Row& row) { alive.emplace(read_ulid(row.bytes(0))); });
  if (!asked) return fail(asked.error());
  std::erase_if(*owners, [&](const task::Incarnation& owner) { return alive.contains(owner); });
  return owners;
}

// From owner to owner along the index, however many tasks each has.
Result<std::vector<task::Incarnation>> RelationalTransaction::owning_nodes() {
  std::vector<task::Incarnation> nodes;
  std::string last = std::string(task::kNodeIdType) + '_';
  const std::string end = std::string(task::kNodeIdType) + '`';  // the character after '_'
  while (true) {
    Values values;
    values.text(last).text(end);
    std::string owner;
    const Result<> asked = connection().query(
        "SELECT owner FROM recourse_task WHERE owner > ? AND owner < ? ORDER BY owner LIMIT 1",
        values.view(), [&](const sql::Row& row) { owner = row.bytes(0); });
    if (!asked) return fail(asked.error());
    if (owner.empty()) return nodes;
    const Result<task::Owner> node = task::parse_owner(owner);
    if (!node) return fail(ErrorCode::kCorrupt, node.error().message);
    nodes.push_back(std::get<task::Incarnation>(*node));
    last = owner;
  }
}

}  // namespace recourse::store::relational
