#include "api/guard_bodies.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "api/shapes.h"
#include "base/duration_text.h"
#include "base/text.h"
#include "http/base64.h"

namespace recourse::api {
namespace {

using boost::json::object;
using boost::json::value;

template <class T>
value or_null(const std::optional<T>& maybe) {
  return maybe ? value(*maybe) : value(nullptr);
}

object by_status(const std::map<std::int32_t, std::int64_t>& counts) {
  object shape;
  for (const auto& [status, count] : counts) shape[fmt::format("{}", status)] = count;
  return shape;
}

std::int64_t count_of(const std::map<std::int32_t, std::int64_t>& counts, guard::ErrStatus status) {
  const auto found = counts.find(static_cast<std::int32_t>(status));
  return found == counts.end() ? 0 : found->second;
}

object counters_of(const guard::GuardCounters& counters) {
  return {{"scans", counters.scans},
          {"scans_failed", counters.scans_failed},
          {"healed_by_scan", counters.healed_by_scan},
          {"healed_by_retry", counters.healed_by_retry},
          {"retried", counters.retried},
          {"failed", counters.failed},
          {"not_claimed", counters.not_claimed},
          {"lost", counters.lost},
          {"escalated", counters.escalated},
          {"reminded", counters.reminded},
          {"reminders_failed", counters.reminders_failed}};
}

// What of a row's newest task tells how its retries go; the task itself has the rest.
value runs_of(const std::optional<task::Task>& task) {
  if (!task) return nullptr;
  object shape{{"id", task::to_string(task->id)},
               {"state", to_string(task->state)},
               {"last_error", nullptr}};
  if (task->last_error) {
    shape["last_error"] =
        object{{"code", task->last_error->code}, {"message", task->last_error->message}};
  }
  return shape;
}

value seconds_of(const std::optional<Duration>& duration) {
  if (!duration) return nullptr;
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

}  // namespace

std::string_view to_string(guard::Standing standing) {
  switch (standing) {
    case guard::Standing::kDue: return "due";
    case guard::Standing::kNotWaiting: return "not_waiting";
    case guard::Standing::kLater: return "later";
    case guard::Standing::kOtherStatus: return "other_status";
    case guard::Standing::kAlreadySuccess: return "already_success";
    case guard::Standing::kPastWindow: return "past_window";
  }
  std::abort();
}

value to_json(const guard::RowId& id) {
  return std::visit([](const auto& one) { return value(one); }, id);
}

// Text was cut where it was read.
value to_json(const SqlValue& cell) {
  constexpr std::size_t kMost = guard::kListedCharactersMax;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return value(clean_text(*text, kMost));
  if (const auto* bytes = std::get_if<SqlBytes>(&cell)) {
    return value(http::to_base64(std::string_view(bytes->value).substr(0, kMost)));
  }
  return nullptr;
}

object to_json(const guard::Guard& guard) {
  const guard::GuardSettings& settings = guard.settings();
  const guard::GuardCounters counters = guard.counters();
  const std::string trouble = guard.trouble();
  return {{"name", guard.name()},
          {"ready", trouble.empty()},
          {"error", trouble.empty() ? value(nullptr) : value(trouble)},
          {"kind", guard.kind().value},
          {"table", settings.table},
          {"service_name", settings.service_name},
          {"status_field", settings.status_field},
          {"success_value", settings.success_value},
          {"fail_value", settings.fail_value},
          {"manual_success_route", guard.manual_success_route()},
          {"min_interval", format_duration(settings.min_interval)},
          {"timeout_window", format_duration(settings.timeout_window)},
          {"max_retries", settings.max_retries},
          {"remind_every", format_duration(settings.remind_every)},
          {"scan_every", format_duration(settings.scan_every)},
          {"waiting", count_of(counters.rows, guard::ErrStatus::kWaiting)},
          {"needs_person", count_of(counters.rows, guard::ErrStatus::kNeedsPerson)},
          {"counters", counters_of(counters)}};
}

object to_json(const guard::TableReport& report) {
  object shape{{"waiting", count_of(report.by_err_status, guard::ErrStatus::kWaiting)},
               {"needs_person", count_of(report.by_err_status, guard::ErrStatus::kNeedsPerson)},
               {"by_err_status", by_status(report.by_err_status)},
               {"oldest_error_at", to_json(report.oldest_start)},
               {"stuck_seconds", nullptr},
               {"drift", object{{"healed_unnoticed", report.healed_unnoticed},
                                {"failed_unmarked", report.failed_unmarked},
                                {"other_status", report.other_status}}},
               {"now", to_json(std::optional(report.now))}};
  // A start time is rounded up: one of this second is not ahead of us.
  if (report.oldest_start) {
    const Duration stuck = std::max<Duration>(report.now - *report.oldest_start, Duration::zero());
    shape["stuck_seconds"] = seconds_of(stuck);
  }
  return shape;
}

object to_json(const guard::Row& row) {
  return {{"id", to_json(row.id)},
          {"business_status", or_null(row.business_status)},
          {"err_status", or_null(row.err_status)},
          {"err_start_time", to_json(row.start_time)},
          {"err_retry_count", row.retries},
          {"err_next_retry_time", to_json(row.next_retry)},
          {"err_min_interval", seconds_of(row.min_interval)},
          {"err_timeout", seconds_of(row.timeout)},
          {"err_submit_manual_status", or_null(row.manual_status)},
          {"err_next_remind_staff_time", to_json(row.next_remind)},
          {"err_manual_notify_count", row.notify_count}};
}

object to_json(const guard::Explanation& explanation) {
  object shape = to_json(explanation.row);
  shape["standing"] = to_string(explanation.standing);
  shape["explanation"] = explanation.text;
  shape["task"] = runs_of(explanation.task);
  shape["now"] = to_json(std::optional(explanation.now));
  return shape;
}

object to_json(const guard::ScanReport& report) {
  return {{"got_start_time", report.got_start_time},
          {"healed", report.healed},
          {"due", report.due},
          {"submitted", report.submitted},
          {"escalated", report.escalated},
          {"reminders", report.reminders},
          {"took", format_duration(report.took)}};
}

}  // namespace recourse::api
