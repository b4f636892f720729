#include "api/degrade_bodies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "api/fields.h"
#include "api/shapes.h"
#include "api/submission.h"
#include "api/task_filter.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "task/control.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::array kKeyNames{degrade::kMemberKey, degrade::kRelatedKey, degrade::kTypeKey};

std::string unknown_kind(const Desk& desk, std::string_view kind) {
  std::vector<std::string> names;
  for (const task::Kind& one : desk.degrade.kinds) names.push_back(one.value);
  return names.empty() ? std::string(
                             "cannot be given: this server has no degrade kinds; set "
                             "degrade: true on a kind of its configuration")
                       : fmt::format("must be a degrade kind of this server: {}; not {}",
                                     fmt::join(names, ", "), shown(kind));
}

bool is_degrade_kind(const Desk& desk, const std::string& kind) {
  return std::ranges::count(desk.degrade.kinds, task::Kind(kind)) > 0;
}

std::string unknown_status(std::string_view status) {
  return fmt::format("must be PENDING, COMPLETED or FAILED, not {}", shown(status));
}

// Searched for as they are stored.
std::optional<std::string> read_key(Fields& fields, std::string_view name) {
  std::optional<std::string> text = fields.text(name);
  if (text && (text->size() > task::kKeyBytesMax || !is_plain_text(*text))) {
    fields.refuse(name, fmt::format("must be plain text of up to {} bytes", task::kKeyBytesMax));
  }
  return text;
}

// Of a bulk job, in its own words.
object read_job_filter(Fields& fields, const Desk& desk, std::vector<FieldError>& errors) {
  object filter;
  const std::string status = fields.text("status").value_or("FAILED");
  const auto parsed = degrade::parse_status(status);
  if (!parsed) fields.refuse("status", unknown_status(status));
  if (parsed == degrade::Status::kCompleted) {
    fields.refuse("status", "cannot be COMPLETED: there is nothing left to retry");
  }
  // Who waits is told not to; who is run or paused is not waiting.
  filter["state"] =
      parsed == degrade::Status::kPending ? array{"pending"} : array{"dead", "failed"};
  array kinds;
  for (const task::Kind& kind : desk.degrade.kinds) kinds.emplace_back(kind.value);
  if (const auto kind = fields.text("kind")) {
    kinds = {boost::json::string(*kind)};
    if (!is_degrade_kind(desk, *kind)) fields.refuse("kind", unknown_kind(desk, *kind));
  }
  // An empty list would mean every kind there is.
  if (kinds.empty()) fields.refuse("kind", unknown_kind(desk, ""));
  filter["kind"] = std::move(kinds);
  object keys;
  for (const std::string_view name : kKeyNames) {
    if (const auto value = read_key(fields, name)) keys[name] = *value;
  }
  if (keys.size() > 1) {
    errors.push_back({"", "member, related_id and type are taken one at a time here"});
  }
  if (!keys.empty()) filter["keys"] = std::move(keys);
  if (const auto time = fields.time("from")) filter["created_from"] = format_rfc3339(*time);
  if (const auto time = fields.time("before")) filter["created_before"] = format_rfc3339(*time);
  return filter;
}

template <class Items>
array to_array(const Items& items) {
  array list;
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

object to_json(const degrade::Record& record) {
  object shape{{"id", task::to_string(record.id)},
               {"kind", record.kind.value},
               {"status", to_string(record.status)},
               {"state", to_string(record.state)},
               {"member", record.member},
               {"related_id", record.related_id},
               {"type", record.type},
               {"tenant", record.tenant.value},
               {"amount", nullptr},
               {"remark", record.remark},
               {"expires_at", to_json(record.expires_at)},
               {"failure_reason", record.failure_reason},
               {"failed_at", to_json(std::optional(record.failed_at))},
               {"retries", record.retries},
               {"max_retries", record.max_retries},
               {"last_retry_at", to_json(record.last_retry_at)},
               {"last_error", record.last_error},
               {"next_retry_at", to_json(record.next_retry_at)},
               {"ended_at", to_json(record.ended_at)}};
  if (record.amount) shape["amount"] = *record.amount;
  return shape;
}

object to_json(const degrade::Summary& summary) {
  object counts;
  for (const auto& [status, count] : summary.counts) counts[to_string(status)] = count;
  return {{"counts", std::move(counts)},
          {"newest_failed", to_array(summary.newest_failed)},
          {"most_retried", to_array(summary.most_retried)},
          {"saw_all_pending", summary.saw_all_pending}};
}

RecordRequest read_failure(const object& body, const Desk& desk, const Call& call,
                           std::vector<FieldError>& errors) {
  const std::size_t before = errors.size();
  RecordRequest request;
  degrade::Failure& failure = request.failure;
  Fields fields(body, "", errors);
  failure.kind = task::Kind(fields.required_text("kind"));
  if (!failure.kind.value.empty() && !is_degrade_kind(desk, failure.kind.value)) {
    fields.refuse("kind", unknown_kind(desk, failure.kind.value));
  }
  request.id = read_new_id(fields, desk.clock.now());
  read_tenant(fields, call.caller, failure.tenant);
  read_payload(fields, call.request.body, desk.limits.payload_bytes, failure.payload);
  failure.member = read_key(fields, degrade::kMemberKey).value_or("");
  failure.related_id = read_key(fields, degrade::kRelatedKey).value_or("");
  failure.type = read_key(fields, degrade::kTypeKey).value_or("");
  failure.remark = fields.text("remark").value_or("");
  if (failure.remark.size() > degrade::kRemarkBytesMax || !is_plain_text(failure.remark)) {
    fields.refuse("remark",
                  fmt::format("must be plain text of up to {} bytes", degrade::kRemarkBytesMax));
  }
  using Limits = std::numeric_limits<std::int64_t>;
  failure.amount = fields.integer("amount", Limits::min(), Limits::max());
  failure.expires_at = fields.time("expires_at");
  failure.reason = fields.text("reason").value_or("");
  fields.refuse_others();
  // What the fields alone do not show.
  if (errors.size() == before) {
    if (const Result<> valid = validate(failure); !valid) {
      errors.push_back({"", valid.error().message});
    }
  }
  return request;
}

degrade::Query read_failure_query(const Desk& desk, const Call& call,
                                  std::vector<FieldError>& errors) {
  const http::Request& request = call.request;
  degrade::Query query;
  query.kinds = desk.degrade.kinds;
  if (const auto kind = request.parameter("kind")) {
    query.kinds = {task::Kind(std::string(*kind))};
    if (!is_degrade_kind(desk, std::string(*kind))) {
      errors.push_back({"?kind", unknown_kind(desk, *kind)});
    }
  }
  refuse_repeated_parameters(request, errors);
  if (const auto status = request.parameter("status")) {
    query.status = degrade::parse_status(*status);
    if (!query.status) errors.push_back({"?status", unknown_status(*status)});
  }
  const auto text = [&](std::string_view name) -> std::optional<std::string> {
    const auto value = request.parameter(name);
    if (!value) return std::nullopt;
    if (!is_plain_text(*value)) {
      errors.push_back({"?" + std::string(name), "must be valid UTF-8 without control characters"});
    }
    return std::string(*value);
  };
  query.member = text(degrade::kMemberKey);
  query.related_id = text(degrade::kRelatedKey);
  query.type = text(degrade::kTypeKey);
  if (const auto tenant = text("tenant")) query.tenant = task::Tenant(*tenant);
  if (call.caller.tenant) {
    if (query.tenant && *query.tenant != *call.caller.tenant) {
      errors.push_back({"?tenant", "is not the one of your token; leave it out"});
    }
    query.tenant = call.caller.tenant;
  }
  query.from = read_time(request, "from", errors);
  query.before = read_time(request, "before", errors);
  return query;
}

RetryMany read_retry_many(const object& body, const Desk& desk, const Call& call,
                          std::vector<FieldError>& errors) {
  RetryMany asked;
  BulkJob& job = asked.job;
  Fields fields(body, "", errors);
  job.filter = read_job_filter(fields, desk, errors);
  job.reason = fields.text("reason").value_or("");
  if (job.reason.size() > task::kReasonBytesMax) {
    fields.refuse("reason", fmt::format("has up to {} bytes", task::kReasonBytesMax));
  }
  job.limit =
      static_cast<std::size_t>(fields.integer("limit", 1, kBulkTasksMax).value_or(kBulkTasksMax));
  asked.dry_run = fields.boolean("dry_run").value_or(false);
  fields.refuse_others();
  job.by = call.caller.name;
  job.tenant = call.caller.tenant;
  return asked;
}

}  // namespace recourse::api
