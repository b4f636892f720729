// A guard as business code and people use it.
#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "embed/guard_impl.h"

namespace recourse {
namespace {

constexpr std::size_t kRowsNamed = 10;

GuardedRow row_for_users(guard::Row row) {
  return {.id = std::move(row.id),
          .business_status = std::move(row.business_status),
          .err_status = row.err_status,
          .start_time = row.start_time,
          .retries = row.retries,
          .next_retry = row.next_retry,
          .manual_status = row.manual_status,
          .next_reminder = row.next_remind,
          .reminders = row.notify_count};
}

Unexpected no_row(const guard::Guard& guard, const RowId& id, std::string_view why = "") {
  return fail(ErrorCode::kNotFound,
              fmt::format("{} has no row {}{}", guard.settings().table, shown(to_string(id)), why));
}

std::string names_of(const std::vector<RowId>& rows) {
  std::string names;
  for (std::size_t i = 0; i < rows.size() && i < kRowsNamed; ++i) {
    names += (i == 0 ? "" : ", ") + to_string(rows[i]);
  }
  return rows.size() > kRowsNamed ? names + ", ..." : names;
}

}  // namespace

std::string to_string(const RowId& id) { return guard::to_string(id); }

Guard::Guard(GuardOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Guard::~Guard() = default;

const GuardOptions& Guard::options() const { return impl_->options; }

Result<guard::Guard*> Guard::Impl::running() const {
  guard::Guard* found = started.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  return fail(ErrorCode::kInvalid,
              fmt::format("the guard of {} is not running: add it to Guards::on(engine), and start "
                          "the engine",
                          shown(options.table)));
}

Result<> Guard::manual_success(const RowId& id) { return processing_successful(id); }

Result<std::vector<RowId>> Guard::open_rows_of(std::string_view user) {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  return (*guard)->open_rows_of(std::string(user), Impl::kPatience);
}

Result<> Guard::check_user_err(std::string_view user) {
  const auto rows = open_rows_of(user);
  if (!rows) return fail(rows.error());
  if (rows->empty()) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("user {} still has {} of {} to be settled first: {}", shown(user),
                          counted(rows->size(), "row"), options().table, names_of(*rows)));
}

Result<int> Guard::Impl::mark(const RowId& id, const std::optional<std::string>& user) const {
  const auto guard = running();
  if (!guard) return fail(guard.error());
  const auto marked = (*guard)->mark_abnormal(id, user, kPatience);
  if (!marked) return fail(marked.error());
  if (marked->rows == 0) {
    return no_row(**guard, id, ", or the transaction that inserts it has not committed yet");
  }
  return marked->err_status.value_or(static_cast<int>(guard::ErrStatus::kWaiting));
}

Result<int> Guard::mark_abnormal(const RowId& id) { return impl_->mark(id, std::nullopt); }

Result<int> Guard::mark_abnormal(const RowId& id, std::string_view user) {
  return impl_->mark(id, std::string(user));
}

Result<> Guard::retry(const RowId& id) {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  return (*guard)->retry(id, Impl::kPatience);
}

Result<> Guard::processing_successful(const RowId& id) {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  const auto rows = (*guard)->processing_successful(id, Impl::kPatience);
  if (!rows) return fail(rows.error());
  return *rows > 0 ? Result<>() : no_row(**guard, id);
}

Result<RowExplanation> Guard::explain(const RowId& id) {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  auto found = (*guard)->explain(id, Impl::kPatience);
  if (!found) return fail(found.error());
  RowExplanation explanation{.row = row_for_users(std::move(found->row)),
                             .due = found->standing == guard::Standing::kDue,
                             .why = std::move(found->text)};
  if (found->task) {
    explanation.task = task::to_string(found->task->id);
    if (found->task->last_error) explanation.last_error = found->task->last_error->message;
  }
  return explanation;
}

Result<std::vector<RowColumns>> Guard::list(const RowQuery& query) {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  auto rows = (*guard)->table().list(
      {.err_statuses = {query.err_statuses.begin(), query.err_statuses.end()},
       .limit = query.limit},
      Impl::kPatience);
  if (!rows) return fail(rows.error());
  std::vector<RowColumns> columns;
  for (guard::ListedRow& row : *rows) columns.push_back(std::move(row.columns));
  return columns;
}

Result<GuardReport> Guard::report() {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  const auto report = (*guard)->table().report(Impl::kPatience);
  if (!report) return fail(report.error());
  return GuardReport{.by_err_status = {report->by_err_status.begin(), report->by_err_status.end()},
                     .oldest_error = report->oldest_start,
                     .healed_unnoticed = report->healed_unnoticed,
                     .failed_unmarked = report->failed_unmarked,
                     .other_status = report->other_status};
}

GuardFigures Guard::figures() const {
  const auto guard = impl_->running();
  if (!guard) return {};
  const guard::GuardCounters counters = (*guard)->counters();
  return {.scans = counters.scans,
          .scans_failed = counters.scans_failed,
          .scan_time = counters.scan_time,
          .runs = counters.retried,
          .runs_failed = counters.failed,
          .healed = counters.healed_by_retry + counters.healed_by_scan,
          .escalated = counters.escalated,
          .reminded = counters.reminded,
          .not_claimed = counters.not_claimed,
          .lost = counters.lost};
}

Result<> Guard::scan_now(Duration within) {
  const auto guard = impl_->running();
  if (!guard) return fail(guard.error());
  const auto scanned = (*guard)->scan_now(within);
  return scanned ? Result<>() : fail(scanned.error());
}

}  // namespace recourse
