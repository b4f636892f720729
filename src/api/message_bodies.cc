#include "api/message_bodies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/fields.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "base/duration_text.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "http/base64.h"
#include "task/control.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::array kMessageKeyNames{message::kMessageIdKey, message::kBusinessIdKey,
                                      message::kTopicKey, message::kGroupKey, message::kSourceKey};

std::string unknown_message_status(std::string_view status) {
  return fmt::format("must be RETRYING, PENDING, PROCESSED or IGNORED, or its number, not {}",
                     shown(status));
}

// Searched for as they are stored.
std::optional<std::string> read_message_key(Fields& fields, std::string_view name) {
  std::optional<std::string> text = fields.text(name);
  if (text && (text->empty() || text->size() > task::kKeyBytesMax || !is_plain_text(*text))) {
    fields.refuse(name, fmt::format("must be plain text of 1 to {} bytes", task::kKeyBytesMax));
  }
  return text;
}

array states_to_steer(message::Status status, Action action) {
  // Who waits is told not to; who is run or paused is not waiting.
  if (action == Action::kRetry && status == message::Status::kRetrying) return {"pending"};
  array states;
  for (const task::State state : message::states_of(status)) states.emplace_back(to_string(state));
  return states;
}

object read_order_filter(Fields& fields, Action action, const Desk& desk,
                         std::vector<FieldError>& errors) {
  object filter;
  const std::string text = fields.text("status").value_or("PENDING");
  const auto status = message::parse_status(text);
  if (!status) fields.refuse("status", unknown_message_status(text));
  const bool is_over = status == message::Status::kProcessed || status == message::Status::kIgnored;
  if (is_over) fields.refuse("status", "must be RETRYING or PENDING: the others have ended");
  filter["state"] = states_to_steer(status.value_or(message::Status::kPending), action);
  array kinds;
  for (const task::Kind& kind : desk.messages.kinds) kinds.emplace_back(kind.value);
  if (const auto kind = fields.text("kind")) {
    kinds = {boost::json::string(*kind)};
    if (!is_message_kind(desk, *kind)) fields.refuse("kind", unknown_message_kind(desk, *kind));
  }
  // An empty list would mean every kind there is.
  if (kinds.empty()) fields.refuse("kind", unknown_message_kind(desk, ""));
  filter["kind"] = std::move(kinds);
  object keys;
  for (const std::string_view name : kMessageKeyNames) {
    if (const auto value = read_message_key(fields, name)) {
      keys[name] = message::search_text(*value);
    }
  }
  if (keys.size() > 1) {
    errors.push_back(
        {"", "message_id, business_id, topic, group and source are taken one at a time here"});
  }
  if (!keys.empty()) filter["keys"] = std::move(keys);
  if (const auto time = fields.time("from")) filter["created_from"] = format_rfc3339(*time);
  if (const auto time = fields.time("before")) filter["created_before"] = format_rfc3339(*time);
  return filter;
}

void show_body(object& shape, std::string_view body) {
  const bool is_text =
      body.find('\0') == std::string_view::npos && clean_text(body, body.size()) == body;
  if (is_text) {
    shape["body"] = body;
  } else {
    shape["body_base64"] = http::to_base64(body);
  }
}

object headers_of(const std::vector<message::Header>& headers) {
  object shape;
  for (const message::Header& header : headers) {
    shape[clean_text(header.name, header.name.size())] =
        clean_text(header.value, header.value.size());
  }
  return shape;
}

// As it was written, where it is JSON.
boost::json::value custom_data_of(const std::string& text) {
  if (text.empty()) return nullptr;
  const auto parsed = parse_json(text);
  return parsed ? *parsed : boost::json::value(text);
}

std::string word_of(message::IdOrigin origin) {
  switch (origin) {
    case message::IdOrigin::kPublisher: return "publisher";
    case message::IdOrigin::kPosition: return "position";
    case message::IdOrigin::kBodyHash: return "body_hash";
  }
  std::abort();
}

}  // namespace

object to_json(const message::Record& record, Body body) {
  const message::Envelope& envelope = record.envelope;
  object shape{{"id", task::to_string(record.id)},
               {"kind", record.kind.value},
               {"tenant", record.tenant.value},
               {"status", to_string(record.status)},
               {"status_number", message::number_of(record.status)},
               {"state", to_string(record.state)},
               {"source", envelope.source},
               {"group", envelope.group},
               {"topic", envelope.topic},
               {"tags", envelope.tags},
               {"key", clean_text(envelope.key, envelope.key.size())},
               {"message_id", envelope.id},
               {"id_origin", word_of(envelope.id_origin)},
               {"business_id", envelope.business_id},
               {"error_code", record.error_code},
               {"error", record.error},
               {"retries_left", record.retries_left},
               {"max_retries", record.max_retries},
               {"attempts", record.attempts},
               {"version", record.version},
               {"next_retry_at", to_json(record.next_retry_at)},
               {"published_at", to_json(envelope.published_at)},
               {"created_at", format_rfc3339(record.created_at)},
               {"updated_at", format_rfc3339(record.updated_at)},
               {"ended_at", to_json(record.ended_at)}};
  if (body == Body::kShown) {
    shape["headers"] = headers_of(envelope.headers);
    show_body(shape, record.body);
  }
  return shape;
}

object to_json(const message::HistoryEntry& entry) {
  object shape{{"attempt", entry.attempt},
               {"operation_time", format_rfc3339(entry.operation_time)},
               {"exception_type", entry.exception_type},
               {"error_code", entry.error_code},
               {"error_message", entry.error_message},
               {"consumer_ip", entry.consumer_ip},
               {"stack_trace", entry.stack_trace},
               {"retry_delay", nullptr},
               {"result", entry.result},
               {"custom_data", custom_data_of(entry.custom_data)}};
  // In milliseconds, as the source has it.
  if (entry.retry_delay) {
    shape["retry_delay"] =
        std::chrono::round<std::chrono::milliseconds>(*entry.retry_delay).count();
  }
  return shape;
}

object to_json(const message::Summary& summary) {
  object counts;
  for (const auto& [status, count] : summary.counts) counts[to_string(status)] = count;
  array newest;
  for (const message::Record& record : summary.newest_pending) {
    newest.push_back(to_json(record, Body::kHidden));
  }
  object shape{{"counts", std::move(counts)},
               {"cancelled", summary.cancelled},
               {"success_rate", nullptr},
               {"average_retries", summary.average_retries},
               {"newest_pending", std::move(newest)}};
  if (summary.success_rate) shape["success_rate"] = *summary.success_rate;
  return shape;
}

object to_json(const SourceCard& source) {
  const message::FeederFigures& figures = source.figures;
  return {{"name", source.name},
          {"broker", source.broker},
          {"address", source.address},
          {"topic", source.topic},
          {"group", source.group},
          {"kind", source.kind},
          {"consumers", source.consumers},
          {"connected", figures.connected},
          {"trouble", figures.trouble},
          {"is_full", figures.is_full},
          {"received", figures.received},
          {"acknowledged", figures.acknowledged},
          {"given_back", figures.given_back},
          {"refused", figures.refused},
          {"errors", figures.errors},
          {"last_received_at", to_json(figures.last_received_at)}};
}

message::Query read_message_query(const Desk& desk, const Call& call,
                                  std::vector<FieldError>& errors) {
  const http::Request& request = call.request;
  message::Query query;
  query.kinds = desk.messages.kinds;
  if (const auto kind = request.parameter("kind")) {
    query.kinds = {task::Kind(std::string(*kind))};
    if (!is_message_kind(desk, *kind)) {
      errors.push_back({"?kind", unknown_message_kind(desk, *kind)});
    }
  }
  refuse_repeated_parameters(request, errors);
  if (const auto status = request.parameter("status")) {
    query.status = message::parse_status(*status);
    if (!query.status) errors.push_back({"?status", unknown_message_status(*status)});
  }
  const auto text = [&](std::string_view name) -> std::optional<std::string> {
    const auto value = request.parameter(name);
    if (!value) return std::nullopt;
    if (value->empty() || !is_plain_text(*value)) {
      errors.push_back({"?" + std::string(name),
                        "must be valid UTF-8 without control characters, and not empty"});
    }
    return std::string(*value);
  };
  query.message_id = text(message::kMessageIdKey);
  query.business_id = text(message::kBusinessIdKey);
  query.topic = text(message::kTopicKey);
  query.group = text(message::kGroupKey);
  query.source = text(message::kSourceKey);
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

MessagesOrder read_messages_order(const object& body, Action action, const Desk& desk,
                                  const Call& call, std::vector<FieldError>& errors) {
  MessagesOrder asked;
  BulkJob& job = asked.job;
  Fields fields(body, "", errors);
  job.action = action;
  job.filter = read_order_filter(fields, action, desk, errors);
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

bool is_message_kind(const Desk& desk, std::string_view kind) {
  return std::ranges::count(desk.messages.kinds, task::Kind(std::string(kind))) > 0;
}

std::string unknown_message_kind(const Desk& desk, std::string_view kind) {
  std::vector<std::string> names;
  for (const task::Kind& one : desk.messages.kinds) names.push_back(one.value);
  return names.empty() ? std::string(
                             "cannot be given: this server has no message kinds; set message: true "
                             "on a kind of its configuration, or name it in a source of messages")
                       : fmt::format("must be a message kind of this server: {}; not {}",
                                     fmt::join(names, ", "), shown(kind));
}

}  // namespace recourse::api
