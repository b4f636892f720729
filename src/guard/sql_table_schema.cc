// Columns and indexes: what is missing, and adding it beside a running application.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "guard/sql_table.h"
#include "store/countdown.h"

namespace recourse::guard {
namespace {

// Between two tries for a table that others use all the time.
constexpr Duration kFirstTurnPause = std::chrono::milliseconds(20);
constexpr Duration kLongestTurnPause = std::chrono::milliseconds(500);

// To see what has become of the table.
constexpr Duration kLookPatience = std::chrono::seconds(5);

class TurnPauses {
 public:
  TurnPauses(sql::Deadline deadline, const std::stop_token& stop)
      : deadline_(deadline), stop_(stop) {}

  // False: the time is over, or a stop has come.
  bool wait() {
    if (std::chrono::steady_clock::now() + next_ >= deadline_) return false;
    std::this_thread::sleep_for(next_);
    next_ = std::min(next_ * 2, kLongestTurnPause);
    return !stop_.stop_requested();
  }

 private:
  const sql::Deadline deadline_;
  const std::stop_token& stop_;
  Duration next_ = kFirstTurnPause;
};

Result<std::vector<Change>> missing_in(sql::Connection& connection, const Dialect& dialect,
                                       const GuardSettings& settings) {
  Result<std::optional<Layout>> layout = dialect.layout(connection, settings.table);
  if (!layout) return fail(layout.error());
  if (!*layout) return fail(ErrorCode::kInvalid, "the table " + settings.table + " is gone");
  return changes_for(**layout, dialect, settings);
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
    plan.statements.clear();
    const auto changes = missing_in(connection, dialect(), settings_);
    if (!changes) return fail(changes.error());
    for (const Change& change : *changes) plan.statements.push_back(change.statement);
    return {};
  });
  if (!done) return fail(done.error());
  return plan;
}

struct SqlTable::Adding {
  bool (*is_wanted)(const Change&);
  sql::Deadline deadline;
  const std::stop_token& stop;
};

// The plan is made anew after each pass: another node may have been quicker. Only missing columns
// that were refused are worth an error: the guard works without the rest.
Result<> SqlTable::apply_changes(sql::Connection& connection, const Adding& adding) {
  TurnPauses pauses(adding.deadline, adding.stop);
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
    auto changes = missing_in(connection, dialect(), settings_);
    if (!changes) return fail(changes.error());
    if (!changes->empty() && is_needed(changes->front()) && is_given_up(changes->front())) {
      return fail(not_allowed(settings_.table, *changes, refused));
    }
    std::erase_if(*changes, [&](const Change& change) {
      return !adding.is_wanted(change) || is_given_up(change);
    });
    if (changes->empty()) return {};
    for (const Change& change : *changes) {
      const Result<> applied = dialect().apply(connection, change, around);
      if (applied || applied.error().code == ErrorCode::kInvalid) {
        ++tries[change.statement];
        if (applied) continue;
        refused = applied;
        if (is_needed(change)) break;
        continue;
      }
      if (!is_busy(applied.error())) return applied;
      if (pauses.wait()) break;
      return fail(always_busy(settings_.table, *changes));
    }
  }
}

Result<> SqlTable::add(const Adding& adding) {
  bool is_complete = false;
  const auto look = [&](sql::Connection& connection, bool) -> Result<> {
    const auto changes = missing_in(connection, dialect(), settings_);
    if (!changes) return fail(changes.error());
    is_complete = std::ranges::none_of(*changes, adding.is_wanted);
    return is_complete ? look_again(connection) : Result<>();
  };
  Result<> done = attempt(left_until(adding.deadline), look);
  if (!done || is_complete) return done;
  done = database_->use_once(left_until(adding.deadline), [&](sql::Connection& connection) {
    TurnPauses pauses(adding.deadline, adding.stop);
    while (true) {
      const Result<bool> ours = dialect().take_turn(connection, settings_.table);
      if (!ours) return Result<>(fail(ours.error()));
      if (*ours) break;
      if (!pauses.wait()) {
        return Result<>(
            fail(ErrorCode::kUnavailable, "another node is changing the table; try again"));
      }
    }
    return apply_changes(connection, adding);
  });
  if (!done) return done;
  return database_->use(std::max(left_until(adding.deadline), kLookPatience),
                        [&](sql::Connection& connection) { return look_again(connection); });
}

Result<> SqlTable::add_columns(Duration within) {
  const std::stop_token never;
  return add({.is_wanted = is_no_index, .deadline = store::deadline_of(within), .stop = never});
}

Result<> SqlTable::add_indexes(Duration within, const std::stop_token& stop) {
  const sql::Deadline deadline = store::deadline_of(within);
  TurnPauses pauses(deadline, stop);
  while (!database_->take_turn()) {
    if (!pauses.wait()) {
      return fail(ErrorCode::kUnavailable, "another table's indexes are being built; try again");
    }
  }
  Result<> added = add({.is_wanted = is_index, .deadline = deadline, .stop = stop});
  database_->give_turn_back();
  return added;
}

Result<std::map<std::string, std::string>> SqlTable::comments(Duration within) {
  std::map<std::string, std::string> comments;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    const auto layout = dialect().layout(connection, settings_.table);
    if (!layout) return fail(layout.error());
    if (!*layout) return fail(ErrorCode::kInvalid, "the table " + settings_.table + " is gone");
    for (const Column& column : (*layout)->columns) comments[column.name] = column.comment;
    return {};
  });
  if (!done) return fail(done.error());
  return comments;
}

}  // namespace recourse::guard
