#include "guard/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "base/text.h"
#include "engine/submits.h"
#include "guard/retry_rule.h"
#include "guard/row_runs.h"
#include "guard/scanner.h"

namespace recourse::guard {
namespace {

// More are not worth naming to a user who is refused.
constexpr std::size_t kOpenRowsNamed = 100;
// What a row stands like is worth more than how its runs went.
constexpr Duration kTaskPatience = std::chrono::seconds(1);
// At most.
constexpr Duration kIndexesFirst = std::chrono::minutes(10);

}  // namespace

Guard::Guard(const GuardParts& parts, NewGuard guard)
    : parts_(parts),
      table_(std::move(guard.table)),
      handlers_(std::move(guard.handlers)),
      place_(std::move(guard.place)),
      kind_("guard." + table_->settings().name),
      indexing_(*table_, parts_.log, [this] { scanner_->scan_soon(); }) {
  scanner_ = std::make_unique<Scanner>(Scan::Parts{.table = *table_,
                                                   .kind = kind_,
                                                   .node = parts_.node,
                                                   .opened = parts_.opened,
                                                   .ids = parts_.ids,
                                                   .clock = parts_.clock,
                                                   .log = parts_.log,
                                                   .tally = tally_,
                                                   .escalated = nullptr,
                                                   .is_stopping = nullptr},
                                       tell_of_route());
  runs_ = std::make_unique<RowRuns>(RowRuns::Parts{
      .table = *table_,
      .handlers = handlers_,
      .tally = tally_,
      .clock = parts_.clock,
      .log = parts_.log,
      .escalated = [this](const RowId& id,
                          const std::string& error) { scanner_->escalated(id, error); },
      .ran = [this](const RowId& id) { scanner_->ran(id); },
      .found_well = [this] { scanner_->scan_soon(); }});
}

Guard::~Guard() = default;

Tell Guard::tell_of_route() const {
  if (!parts_.tell) return nullptr;
  return [this](const Reminder& reminder, Told told) {
    Reminder with = reminder;
    with.manual_success_route = manual_success_route();
    parts_.tell(with, std::move(told));
  };
}

Result<> Guard::register_kind(const engine::KindSettings& settings) {
  return parts_.node.handle(
      kind_.value, kind_rules(table_->settings(), settings),
      [this](const std::shared_ptr<engine::AttemptRun>& run) { runs_->run(run); });
}

// Without its indexes a scan may read all of a large table: the first one waits for them.
void Guard::start() {
  scanner_->start(kIndexesFirst);
  indexing_.start();
}
void Guard::close() {
  indexing_.close();
  scanner_->close();
}
void Guard::stop(Duration within) {
  scanner_->stop(within);
  indexing_.stop();
}

std::string Guard::trouble() const { return scanner_->trouble(); }

Result<ScanReport> Guard::scan_now(Duration within) { return scanner_->scan_now(within); }

Result<std::vector<RowId>> Guard::open_rows_of(const std::string& user, Duration within) {
  return table_->open_rows_of(user, kOpenRowsNamed, within);
}

Result<Marked> Guard::mark_abnormal(const RowId& id, const std::optional<std::string>& user,
                                    Duration within) {
  Result<Marked> marked = table_->mark_abnormal(id, user, within);
  if (!marked) {
    parts_.log.error(
        "guard_not_marked",
        {{"guard", name()}, {"row", to_string(id)}, {"error", marked.error().message}});
    return marked;
  }
  parts_.log.write(marked->rows == 0 ? LogLevel::kWarning : LogLevel::kInfo,
                   marked->rows == 0 ? "guard_marked_no_row" : "guard_row_marked",
                   std::array<LogField, 3>{
                       {{"guard", name()}, {"table", settings().table}, {"row", to_string(id)}}});
  if (marked->err_status == static_cast<std::int32_t>(ErrStatus::kWaiting))
    hint(id, settings().min_interval);
  return marked;
}

// So that its first retry need not wait for a scan. Whatever becomes of it, the scan finds the row.
void Guard::hint(const RowId& id, Duration due_in) {
  // The row's own time is a whole second, rounded up: a task that came before it would find the row
  // not due.
  const Duration delay = due_in + std::chrono::seconds(1);
  (void)engine::Submits::send(parts_.node, {scanner_->submission_of(id, delay)},
                              store::Novelty::kFresh);
}

Result<> Guard::retry(const RowId& id, Duration within) {
  const Result<std::int64_t> rows = table_->retry(id, within);
  if (!rows) return fail(rows.error());
  if (*rows == 0) {
    const Result<Explanation> found = explain(id, within);
    if (!found) return fail(found.error());
    const bool waits = found->row.err_status == static_cast<std::int32_t>(ErrStatus::kNeedsPerson);
    const std::string why = waits
                                ? fmt::format("its {} is not {}; write that first",
                                              settings().status_field, shown(settings().fail_value))
                                : found->text;
    return fail(ErrorCode::kConflict,
                fmt::format("{} cannot be retried by hand: {}", to_string(id), why));
  }
  parts_.log.info("guard_row_retried_by_person",
                  {{"guard", name()}, {"table", settings().table}, {"row", to_string(id)}});
  hint(id, Duration::zero());
  return {};
}

Result<std::int64_t> Guard::processing_successful(const RowId& id, Duration within) {
  Result<std::int64_t> rows = table_->processing_successful(id, within);
  if (!rows) return rows;
  parts_.log.write(*rows == 0 ? LogLevel::kWarning : LogLevel::kInfo,
                   *rows == 0 ? "guard_healed_no_row" : "guard_row_healed_by_person",
                   std::array<LogField, 3>{
                       {{"guard", name()}, {"table", settings().table}, {"row", to_string(id)}}});
  return rows;
}

Result<std::int64_t> Guard::manual_success(const RowId& id, Duration within) {
  if (!handlers_.manual_success) return processing_successful(id, within);
  try {
    return handlers_.manual_success(id);
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("manual_success threw: {}", one_line(thrown.what(), 1'000)));
  } catch (...) {
    return fail(ErrorCode::kUnavailable, "manual_success threw what is no std::exception");
  }
}

Result<Explanation> Guard::explain(const RowId& id, Duration within) {
  auto row = table_->find(id, within);
  if (!row) return fail(row.error());
  if (!*row) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has no row {}", settings().table, shown(to_string(id))));
  }
  const auto now = table_->now(within);
  if (!now) return fail(now.error());
  const Standing standing = standing_of(**row, settings(), *now);
  std::string text(standing == Standing::kNotWaiting ? explain_not_waiting((*row)->err_status)
                                                     : guard::explain(standing));
  if (standing == Standing::kDue) text += held_up_by();
  Explanation explanation{
      .row = **std::move(row), .standing = standing, .text = std::move(text), .now = *now};
  auto task = scanner_->newest_task_of(explanation.row.id, std::min(within, kTaskPatience));
  if (task) explanation.task = *std::move(task);
  // The row itself says why it was not run.
  if (explanation.task && explanation.task->last_error &&
      has_tried_nothing(explanation.task->last_error->code)) {
    explanation.task->last_error.reset();
  }
  return explanation;
}

// What of the engine's may be in the way of a row that is due.
std::string Guard::held_up_by() const {
  for (const auto& lane : parts_.node.status().lanes) {
    if (lane.kind != kind_) continue;
    if (lane.paused) return fmt::format(", when a person resumes the kind {}", kind_.value);
    if (lane.breaker == policy::BreakerState::kOpen) {
      return fmt::format(
          ", when the breaker of {} closes: too many runs have failed of late, or their table did "
          "not answer",
          kind_.value);
    }
  }
  return "";
}

}  // namespace recourse::guard
