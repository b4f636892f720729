#include "notify/channels/webhook_channel.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/field_checks.h"
#include "base/rfc3339.h"
#include "base/text.h"

namespace recourse::notify {
namespace {

namespace json = boost::json;

// How the request is framed and signed is ours.
bool is_reserved(std::string_view header) {
  constexpr std::array<std::string_view, 8> kReserved{
      "content-length", "content-type",   "transfer-encoding",     "host",
      "connection",     http::kWebhookId, http::kWebhookTimestamp, http::kWebhookSignature};
  return std::ranges::any_of(
      kReserved, [&](std::string_view name) { return http::is_same_name(name, header); });
}

json::object data_of(const Notice& notice) {
  json::object data;
  data["id"] = notice.id;
  data["event"] = to_string(notice.event);
  data["severity"] = to_string(severity_of(notice));
  data["node"] = notice.node;
  data["kind"] = notice.kind.value;
  data["task"] = notice.task ? json::value(task::to_string(*notice.task)) : json::value(nullptr);
  data["tenant"] = notice.tenant.value;
  data["retries"] = notice.retries;
  data["max_retries"] = notice.max_retries;
  data["reason"] = notice.reason;
  data["last_error"] = notice.last_error;
  data["at"] = format_rfc3339(notice.at);
  data["reminder"] = notice.reminder;
  data["more"] = notice.more;
  json::object attributes;
  for (const auto& [name, value] : notice.attributes) attributes[name] = value;
  data["attributes"] = std::move(attributes);
  data["link"] = notice.link;
  return data;
}

class WebhookChannel final : public Channel {
 public:
  WebhookChannel(std::string name, WebhookSettings settings, http::Client& client,
                 const Clock& clock)
      : name_(std::move(name)), settings_(std::move(settings)), client_(client), clock_(clock) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  Result<> send(const Notice& notice, std::stop_token stop) override {
    http::Call call;
    call.body = webhook_body(notice, settings_);
    call.headers = settings_.headers;
    call.headers.add("Content-Type", settings_.cloud_events
                                         ? "application/cloudevents+json; charset=utf-8"
                                         : "application/json");
    if (!settings_.keys.empty()) sign(notice.id, call);
    Result<http::Answer> answer = post(client_, settings_.endpoint, std::move(call), stop);
    return answer ? Result<>() : fail(std::move(answer).error());
  }

 private:
  // By the wall clock: receivers refuse what is too old.
  void sign(const std::string& id, http::Call& call) const {
    const std::string timestamp = http::webhook_timestamp(clock_.now());
    call.headers.add(std::string(http::kWebhookId), id);
    call.headers.add(std::string(http::kWebhookTimestamp), timestamp);
    call.headers.add(
        std::string(http::kWebhookSignature),
        http::sign_webhook(settings_.keys, {.id = id, .timestamp = timestamp, .body = call.body}));
  }

  const std::string name_;
  const WebhookSettings settings_;
  http::Client& client_;
  const Clock& clock_;
};

}  // namespace

std::string webhook_type(Event event) { return "recourse.notice." + std::string(to_string(event)); }

std::string webhook_body(const Notice& notice, const WebhookSettings& settings) {
  json::object body;
  if (settings.cloud_events) {
    body["specversion"] = "1.0";
    body["id"] = notice.id;
    body["source"] = settings.source;
    body["type"] = webhook_type(notice.event);
    if (notice.task) body["subject"] = task::to_string(*notice.task);
    body["time"] = format_rfc3339(notice.at);
    body["datacontenttype"] = "application/json";
  } else {
    body["type"] = webhook_type(notice.event);
    body["timestamp"] = format_rfc3339(notice.at);
  }
  body["data"] = data_of(notice);
  return json::serialize(body);
}

Result<> validate(const WebhookSettings& settings) {
  if (Result<> endpoint = validate("webhook", settings.endpoint); !endpoint) return endpoint;
  FieldChecks checks("webhook");
  checks.require(!settings.source.empty() && is_plain_text(settings.source), "source",
                 "must be a URI, such as /recourse or https://recourse.example.org");
  for (const auto& [name, value] : settings.headers.fields()) {
    checks.require(!is_reserved(name), "headers",
                   "must leave out " + shown(name) + ", which the channel or the transport writes");
  }
  return checks.result();
}

Result<std::shared_ptr<Channel>> make_webhook_channel(std::string name, WebhookSettings settings,
                                                      http::Client& client, const Clock& clock) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  return std::shared_ptr<Channel>(
      std::make_shared<WebhookChannel>(std::move(name), std::move(settings), client, clock));
}

}  // namespace recourse::notify
