#include "guard/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace recourse::guard {
namespace {

constexpr Duration kPlanPatience = std::chrono::seconds(5);

void tell(Log& log, LogLevel level, std::string_view event, const GuardedTable& table,
          const std::vector<std::string>& run, const Result<>& done = {}) {
  const GuardSettings& settings = table.settings();
  std::vector<LogField> fields{{"guard", settings.name},
                               {"table", settings.table},
                               {"run", fmt::format("{}", fmt::join(run, "; "))}};
  if (!done) fields.push_back({"error", done.error().message});
  log.write(level, event, fields);
}

using StatementTexts = std::vector<std::string>;

// Tells what is no more missing; answers what still is.
Result<StatementTexts> tell_what_ran(GuardedTable& table, Log& log, const StatementTexts& missing) {
  auto left = table.plan(kPlanPatience);
  if (!left) return fail(left.error());
  StatementTexts ran = missing;
  std::erase_if(ran, [&](const std::string& one) {
    return std::ranges::find(left->statements, one) != left->statements.end();
  });
  if (!ran.empty()) tell(log, LogLevel::kInfo, "guard_table_prepared", table, ran);
  return std::move(left->statements);
}

Result<> add_indexes_told(GuardedTable& table, Duration within, const std::stop_token& stop,
                          Log& log, const StatementTexts& missing) {
  tell(log, LogLevel::kInfo, "guard_indexes_begun", table, missing);
  Result<> added = table.add_indexes(within, stop);
  if (stop.stop_requested()) return added;
  const auto left = tell_what_ran(table, log, missing);
  if (left && !left->empty()) {
    tell(log, LogLevel::kWarning, "guard_indexes_missing", table, *left, added);
  }
  return added;
}

}  // namespace

Result<> prepare(GuardedTable& table, Duration within, Log& log) {
  const auto missing = table.plan(kPlanPatience);
  if (!missing) return fail(missing.error());
  if (Result<> added = table.add_columns(within); !added) return added;
  if (missing->statements.empty()) return {};
  const auto left = tell_what_ran(table, log, missing->statements);
  if (!left) return fail(left.error());
  // Without them it works too: what could not be added has been told.
  if (!table.adds_indexes_beside_others() && !left->empty())
    (void)add_indexes_told(table, within, {}, log, *left);
  return {};
}

Result<> prepare_indexes(GuardedTable& table, Duration within, const std::stop_token& stop,
                         Log& log) {
  const auto missing = table.plan(kPlanPatience);
  if (!missing) return fail(missing.error());
  // They came with the columns, or could not be added.
  if (!table.adds_indexes_beside_others()) return {};
  if (!missing->statements.empty())
    return add_indexes_told(table, within, stop, log, missing->statements);
  if (!missing->is_being_built) return {};
  return fail(ErrorCode::kUnavailable, "somebody else is building them");
}

}  // namespace recourse::guard
