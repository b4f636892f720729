#include "runner/outgoing.h"

#include <algorithm>
#include <array>

#include "task/ticket_text.h"

namespace recourse::runner {
namespace {

// From one hop to the next (RFC 9110, 7.6.1), the frame of the message, and what we say ourselves.
constexpr std::array<std::string_view, 16> kReserved{
    "connection",          "content-length",   "expect",     "host",
    "idempotency-key",     "keep-alive",       "te",         "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "trailer",    "traceparent",
    "transfer-encoding",   "upgrade",          "user-agent", "via"};

}  // namespace

std::string ticket_of(const engine::AttemptRun& run) {
  return task::to_string(task::NamedTicket{.task = run.task().id, .ticket = run.task().ticket});
}

bool is_reserved(std::string_view header) {
  const std::string name = http::in_lower_case(header);
  return name.starts_with("recourse-") || name.starts_with("webhook-") ||
         std::ranges::find(kReserved, name) != kReserved.end();
}

http::Headers outgoing_headers(const engine::AttemptRun& run, const OutgoingHeaders& with,
                               std::string_view body, TimePoint now) {
  const task::Task& task = run.task();
  const std::string id = task::to_string(task.id);
  http::Headers headers{{"Content-Type", "application/json"}};
  for (const auto& [name, value] : task.spec.headers) {
    if (!is_reserved(name)) headers.set(name, value);
  }
  for (const auto& [name, value] : with.fixed.fields()) headers.set(name, value);
  headers.add("Recourse-Task", id);
  headers.add("Recourse-Kind", task.spec.kind.value);
  headers.add("Recourse-Attempt", std::to_string(run.start().number));
  headers.add("Recourse-Fence", std::to_string(task.ticket.fence.value));
  headers.add("Recourse-Ticket", ticket_of(run));
  headers.add("Idempotency-Key", id);
  if (!task.spec.trace_parent.empty()) headers.add("traceparent", task.spec.trace_parent);
  if (with.keys.empty()) return headers;
  const std::string timestamp = http::webhook_timestamp(now);
  headers.add(std::string(http::kWebhookId), id);
  headers.add(std::string(http::kWebhookTimestamp), timestamp);
  headers.add(std::string(http::kWebhookSignature),
              http::sign_webhook(with.keys, {.id = id, .timestamp = timestamp, .body = body}));
  return headers;
}

std::vector<std::pair<std::string, std::string>> outgoing_environment(
    const engine::AttemptRun& run) {
  const task::Task& task = run.task();
  std::vector<std::pair<std::string, std::string>> environment{
      {"RECOURSE_TASK", task::to_string(task.id)},
      {"RECOURSE_KIND", task.spec.kind.value},
      {"RECOURSE_ATTEMPT", std::to_string(run.start().number)},
      {"RECOURSE_FENCE", std::to_string(task.ticket.fence.value)},
      {"RECOURSE_TICKET", ticket_of(run)}};
  if (!task.spec.trace_parent.empty()) {
    environment.emplace_back("TRACEPARENT", task.spec.trace_parent);
  }
  return environment;
}

}  // namespace recourse::runner
