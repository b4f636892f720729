// Columns and indexes: what is missing, and adding it beside a running application.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "base/stoppable_sleep.h"
#include "guard/sql_table.h"
#include "store/countdown.h"

namespace recourse::guard {
namespace {

// Between two tries for a table that others use all the time; and no shorter than the last one,
// which may have built for long before somebody was in its way.
constexpr Duration kFirstTurnPause = std::chrono::milliseconds(20);
constexpr Duration kLongestTurnPause = std::chrono::milliseconds(500);
constexpr Duration kLongestIndexPause = std::chrono::seconds(10);

// Of all but what changes the table.
constexpr Duration kLookPatience = std::chrono::seconds(5);

Result<Layout> layout_now(sql::Connection& connection, const Dialect& dialect,
                          const std::string& table) {
  Result<std::optional<Layout>> layout = dialect.layout(connection, table);
  if (!layout) return fail(layout.error());
  if (!*layout) return fail(ErrorCode::kInvalid, "the table " + table + " is gone");
  return **std::move(layout);
}

Result<std::vector<Change>> missing_in(sql::Connection& connection, const Dialect& dialect,
                                       const GuardSettings& settings) {
  const Result<Layout> layout = layout_now(connection, dialect, settings.table);
  if (!layout) return fail(layout.error());
  return changes_for(*layout, dialect, settings);
}

std::string script_of(const std::vector<Change>& changes) {
  std::string script;
  for (const Change& change : changes) script += "\n  " + change.statement + ";";
  return script;
}

bool is_busy(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kConflict;
}

// They come first in a plan.
bool is_needed(const Change& change) { return change.sort == Change::Sort::kColumns; }

bool is_index(const Change& change) { return change.sort == Change::Sort::kIndex; }
bool is_no_index(const Change& change) { return !is_index(change); }

Duration left_until(sql::Deadline deadline) {
  return std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now());
}

Error always_busy(const std::string& table, const std::vector<Change>& changes) {
  return {
      ErrorCode::kUnavailable,
      fmt::format("the table {} was in use all the time: try again when it is quieter, or run{}",
                  table, script_of(changes))};
}

Error not_allowed(const std::string& table, const std::vector<Change>& changes,
                  const Result<>& applied) {
  return {ErrorCode::kInvalid,
          fmt::format("{}\nThe guard's columns are missing in {}. Let somebody who may change it "
                      "run{}",
                      applied ? "they were added, and are not there" : applied.error().message,
                      table, script_of(changes))};
}

}  // namespace

Result<TablePlan> SqlTable::plan(Duration within) {
  TablePlan plan;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    plan = {};
    const auto layout = layout_now(connection, dialect(), settings_.table);
    if (!layout) return fail(layout.error());
    plan.is_being_built = std::ranges::any_of(layout->indexes, &Index::is_being_built);
    for (Change& change : changes_for(*layout, dialect(), settings_))
      plan.statements.push_back(std::move(change.statement));
    return {};
  });
  if (!done) return fail(done.error());
  return plan;
}

struct SqlTable::Adding {
  bool (*is_wanted)(const Change&);
  sql::Deadline deadline;
  Duration longest_pause;
  // Or another node may be at it for long, and it is tried again without holding a connection.
  bool may_wait_for_turn;
  const std::stop_token& stop;

  // False: the time is over, or a stop has come.
  [[nodiscard]] bool wait(Duration pause) const {
    return pause < left_until(deadline) && sleep_unless_stopped(pause, stop);
  }
  [[nodiscard]] sql::Deadline look_by() const {
    return std::min(deadline, std::chrono::steady_clock::now() + kLookPatience);
  }
};

// The plan is made anew after each pass: another node may have been quicker. Only missing columns
// that were refused are worth an error: the guard works without the rest.
Result<> SqlTable::apply_changes(sql::Connection& connection, const Adding& adding) {
  Duration pause = kFirstTurnPause;
  const auto beside = [&](Database::Work work) {
    return database_->use(left_until(adding.deadline), work);
  };
  const Surroundings around{.beside = beside, .stop = adding.stop};
  // What was refused twice, or is still missing when it was done twice (a name that another table's
  // index has), is given up.
  std::map<std::string, int> tries;
  Result<> refused;
  const auto is_given_up = [&](const Change& change) { return tries[change.statement] >= 2; };
  while (true) {
    connection.set_deadline(adding.look_by());
    auto changes = missing_in(connection, dialect(), settings_);
    if (!changes) return fail(changes.error());
    if (!changes->empty() && is_needed(changes->front()) && is_given_up(changes->front())) {
      return fail(not_allowed(settings_.table, *changes, refused));
    }
    std::erase_if(*changes, [&](const Change& change) {
      return !adding.is_wanted(change) || is_given_up(change);
    });
    if (changes->empty()) return {};
    connection.set_deadline(adding.deadline);
    for (const Change& change : *changes) {
      const auto begun = std::chrono::steady_clock::now();
      const Result<> applied = dialect().apply(connection, change, around);
      if (applied || applied.error().code == ErrorCode::kInvalid) {
        ++tries[change.statement];
        if (applied) continue;
        refused = applied;
        if (is_needed(change)) break;
        continue;
      }
      if (!is_busy(applied.error())) return applied;
      const Duration took = -left_until(begun);
      if (!adding.wait(std::max(pause, took))) return fail(always_busy(settings_.table, *changes));
      pause = std::min(pause * 2, adding.longest_pause);
      break;
    }
  }
}

Result<> SqlTable::add(const Adding& adding) {
  return database_->use_once(left_until(adding.look_by()), [&](sql::Connection& connection) {
    for (Duration pause = kFirstTurnPause;; pause = std::min(pause * 2, kLongestTurnPause)) {
      connection.set_deadline(adding.look_by());
      const Result<bool> ours = dialect().take_turn(connection, settings_.table);
      if (!ours) return Result<>(fail(ours.error()));
      if (*ours) {
        Result<> applied = apply_changes(connection, adding);
        connection.set_deadline(std::chrono::steady_clock::now() + kLookPatience);
        dialect().end_turn(connection, settings_.table);
        return applied;
      }
      if (!adding.may_wait_for_turn || !adding.wait(pause)) {
        return Result<>(
            fail(ErrorCode::kUnavailable, "another node is changing the table; try again"));
      }
    }
  });
}

Result<> SqlTable::add_columns(Duration within) {
  const std::stop_token never;
  const Adding adding{.is_wanted = is_no_index,
                      .deadline = store::deadline_of(within),
                      .longest_pause = kLongestTurnPause,
                      .may_wait_for_turn = true,
                      .stop = never};
  const auto look = [&](sql::Connection& connection, bool) { return look_again(connection); };
  Result<> looked = attempt(left_until(adding.look_by()), look);
  if (!looked || seen()->shape.missing.empty()) return looked;
  if (Result<> added = add(adding); !added) return added;
  // On a connection of its own: what took too long has cost that one.
  return attempt(kLookPatience, look);
}

Result<> SqlTable::add_indexes(Duration within, const std::stop_token& stop) {
  const Database::Turn turn(*database_);
  if (!turn.is_ours()) {
    return fail(ErrorCode::kUnavailable, "another table's indexes are being built; try again");
  }
  return add({.is_wanted = is_index,
              .deadline = store::deadline_of(within),
              .longest_pause = kLongestIndexPause,
              .may_wait_for_turn = false,
              .stop = stop});
}

Result<std::map<std::string, std::string>> SqlTable::comments(Duration within) {
  std::map<std::string, std::string> comments;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    const auto layout = layout_now(connection, dialect(), settings_.table);
    if (!layout) return fail(layout.error());
    for (const Column& column : layout->columns) comments[column.name] = column.comment;
    return {};
  });
  if (!done) return fail(done.error());
  return comments;
}

}  // namespace recourse::guard
