#include "api/shapes.h"

#include "base/duration_text.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "http/base64.h"

namespace recourse::api {
namespace {

using boost::json::object;

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && clean_text(bytes, bytes.size()) == bytes;
}

// As one text, so that no reader changes its numbers; what is no text comes in base 64.
void show_payload(object& shape, std::string_view payload) {
  if (is_text(payload)) {
    shape["payload"] = payload;
  } else {
    shape["payload_base64"] = http::to_base64(payload);
  }
}

object object_of(const std::map<std::string, std::string>& texts) {
  object shape;
  for (const auto& [name, value] : texts) shape[name] = value;
  return shape;
}

object object_of(const task::Reason& reason) {
  return {{"code", reason.code}, {"message", reason.message}};
}

void show_if_given(object& shape, std::string_view name, const std::string& text) {
  if (!text.empty()) shape[name] = text;
}

}  // namespace

boost::json::value to_json(std::optional<TimePoint> time) {
  if (!time) return nullptr;
  return boost::json::value(format_rfc3339(*time));
}

object to_json(const task::Task& task, Payload payload) {
  const task::TaskSpec& spec = task.spec;
  object shape{{"id", task::to_string(task.id)},
               {"kind", spec.kind.value},
               {"state", to_string(task.state)},
               {"tenant", spec.tenant.value},
               {"priority", spec.priority},
               {"attempts", task.attempts},
               {"retries", task.retries},
               {"max_retries", spec.max_retries},
               {"episode", task.episode},
               {"timeout", format_duration(spec.timeout)},
               {"created_at", format_rfc3339(task.created_at)},
               {"due_at", to_json(task.due_at)},
               {"started_at", to_json(task.first_started_at)},
               {"ended_at", to_json(task.ended_at)},
               {"deadline", to_json(spec.deadline)},
               {"fence", task.ticket.fence.value}};
  show_if_given(shape, "unique_key", spec.unique_key.value);
  show_if_given(shape, "shard_key", spec.shard_key.value);
  show_if_given(shape, "backoff", spec.backoff);
  show_if_given(shape, "trace_parent", spec.trace_parent);
  if (!spec.headers.empty()) shape["headers"] = object_of(spec.headers);
  if (!spec.search_keys.empty()) shape["search_keys"] = object_of(spec.search_keys);
  if (task.owner) shape["owner"] = task::to_string(*task.owner);
  if (task.ended_by) shape["ended_by"] = task::to_string(*task.ended_by);
  if (task.lease_end) shape["lease_end"] = to_json(task.lease_end);
  if (task.requested) shape["requested"] = to_string(*task.requested);
  if (task.deaths > 0) shape["owner_deaths"] = task.deaths;
  if (task.last_error) shape["last_error"] = object_of(*task.last_error);
  if (payload == Payload::kShown) show_payload(shape, spec.payload);
  return shape;
}

object to_json(const store::Attempt& attempt) {
  object shape{{"number", attempt.number},
               {"started_at", format_rfc3339(attempt.started_at)},
               {"ended_at", format_rfc3339(attempt.ended_at)},
               {"owner", attempt.owner},
               {"fence", attempt.fence.value},
               {"decision", to_string(attempt.decision)}};
  if (attempt.error) shape["error"] = object_of(*attempt.error);
  if (attempt.next_due) shape["next_due"] = to_json(attempt.next_due);
  return shape;
}

object to_json(const store::Note& note) {
  object shape{{"attempt", note.attempt}, {"at", format_rfc3339(note.at)}, {"text", note.text}};
  if (note.progress) shape["progress"] = static_cast<double>(*note.progress) / 1e6;
  return shape;
}

object to_json(const store::AuditEntry& entry) {
  object shape{{"at", format_rfc3339(entry.at)},
               {"actor", entry.actor},
               {"action", entry.action},
               {"detail", entry.detail}};
  if (entry.task) {
    shape["task"] = task::to_string(*entry.task);
    shape["fence"] = entry.fence.value;
  }
  return shape;
}

object to_json(const store::Case& one, const task::Task& task) {
  object shape{{"task", task::to_string(one.task)},          {"kind", task.spec.kind.value},
               {"tenant", task.spec.tenant.value},           {"state", to_string(task.state)},
               {"opened_at", format_rfc3339(one.opened_at)}, {"reminders", one.reminders},
               {"remind_at", to_json(one.remind_at)},        {"assignee", nullptr}};
  if (!one.assignee.empty()) shape["assignee"] = one.assignee;
  if (task.last_error) shape["last_error"] = object_of(*task.last_error);
  return shape;
}

object to_json(const store::NodeRow& node) {
  boost::json::array kinds;
  for (const task::Kind& kind : node.info.kinds) kinds.emplace_back(kind.value);
  return {{"id", task::to_string(task::Owner(node.info.incarnation))},
          {"name", node.info.name},
          {"state", node.dead ? "dead" : "live"},
          {"started_at", format_rfc3339(node.started_at)},
          {"last_heartbeat_at", format_rfc3339(node.beat_at)},
          {"kinds", std::move(kinds)}};
}

object to_json(const TokenView& token) {
  object shape{{"id", token.id},
               {"name", token.identity.name},
               {"role", to_string(token.identity.role)},
               {"created_by", token.created_by},
               {"created_at", format_rfc3339(token.created_at)},
               {"expires_at", to_json(token.expires_at)}};
  if (token.identity.tenant) shape["tenant"] = token.identity.tenant->value;
  return shape;
}

}  // namespace recourse::api
