// The ways to reach people, and trying them out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "api/body.h"
#include "api/route.h"
#include "base/text.h"
#include "notify/notifier.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::size_t kTestTextBytesMax = 1'000;
// Each keeps a thread of the API's for as long as its channel may take.
constexpr int kTestsAtOnceMax = 4;
constexpr std::string_view kOff =
    "notifications are switched off: set retry.notify.enabled, and start the server again";
constexpr std::string_view kOfAllTenants =
    "channels belong to all tenants; this needs a token that is not one's alone";

object channel_shape(const Desk& desk, const notify::ChannelStatus& status) {
  const auto card = std::ranges::find(desk.channels, status.name, &ChannelCard::name);
  return {{"name", status.name},
          {"type", card == desk.channels.end() ? "" : card->type},
          {"breaker", to_string(status.breaker)},
          {"sent", status.sent},
          {"failed", status.failed},
          {"suppressed", status.suppressed},
          {"summaries_sent", status.summaries_sent},
          {"summaries_failed", status.summaries_failed}};
}

http::Response list_channels(Desk& desk, const Call& call) {
  if (call.caller.tenant) return refuse(403, std::string(kOfAllTenants));
  array items;
  for (const notify::ChannelStatus& status : desk.notifier.statuses()) {
    items.push_back(channel_shape(desk, status));
  }
  return json_response(object{{"enabled", desk.notifier.is_on()}, {"items", std::move(items)}});
}

std::string no_channel(const Desk& desk, std::string_view name) {
  std::vector<std::string_view> names;
  for (const ChannelCard& card : desk.channels) names.push_back(card.name);
  return fmt::format("there is no channel {}; there are: {}", shown(name), fmt::join(names, ", "));
}

notify::Notice test_notice(Desk& desk, const Call& call, std::string text) {
  notify::Notice notice{.id = "tst_" + to_string(desk.ids.next()), .event = notify::Event::kTest};
  notice.at = desk.clock.now();
  notice.last_error = std::move(text);
  notice.attributes["by"] = call.caller.name;
  return notice;
}

// Refused or not reached, it is the channel that failed, not this server; the text says why.
http::Response tested(Desk& desk, const Call& call, const std::string& channel,
                      const Result<>& sent) {
  desk.log.info("notification_tested", {{"channel", channel},
                                        {"by", call.caller.name},
                                        {"error", sent ? std::string() : sent.error().message}});
  if (sent) return json_response(object{{"channel", channel}, {"sent", true}});
  return refuse(502, sent.error().message);
}

http::Response test_channel(Desk& desk, const Call& call) {
  if (call.caller.tenant) return refuse(403, std::string(kOfAllTenants));
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const std::string text = fields.text("text").value_or("Somebody tries this channel.");
  if (text.size() > kTestTextBytesMax) {
    fields.refuse("text", fmt::format("has {} bytes; at most {} are allowed", text.size(),
                                      kTestTextBytesMax));
  }
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  if (!desk.notifier.is_on()) return refuse(409, std::string(kOff));
  const std::string& channel = call.parameters.front();
  if (std::ranges::find(desk.channels, channel, &ChannelCard::name) == desk.channels.end()) {
    return refuse(404, no_channel(desk, channel));
  }
  return tested(desk, call, channel, desk.notifier.test(channel, test_notice(desk, call, text)));
}

// So that nobody keeps all threads of the API waiting for a channel that hangs.
Answer few_at_once(Answer answer) {
  return [answer = std::move(answer), out = std::make_shared<std::atomic<int>>(0)](
             Desk& desk, const Call& call) {
    if (out->fetch_add(1) >= kTestsAtOnceMax) {
      out->fetch_sub(1);
      return refuse(429, "others try channels just now; come back in a moment");
    }
    const std::shared_ptr<void> ended(nullptr, [&out](void*) { out->fetch_sub(1); });
    return answer(desk, call);
  };
}

}  // namespace

std::vector<Route> notify_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/notifications/channels", Role::kViewer, Answer(list_channels)},
      {kPost, "/api/v1/notifications/channels/{name}/test", Role::kOperator,
       few_at_once(test_channel)},
  };
}

}  // namespace recourse::api
