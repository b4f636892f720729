// Sends one notice through one channel, as the tests beside it ask, and says how it went:
//   notify_driver webhook|slack|feishu|dingtalk|wecom|email NAME=VALUE...
// Exit 0: sent, with the tries it took on stdout; 1: not sent, with the error.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/duration_text.h"
#include "http/client.h"
#include "http/webhook_signature.h"
#include "notify/channels/dingtalk.h"
#include "notify/channels/email_channel.h"
#include "notify/channels/feishu.h"
#include "notify/channels/slack.h"
#include "notify/channels/webhook_channel.h"
#include "notify/channels/wecom.h"
#include "notify/notifier.h"

namespace recourse::notify {
namespace {

using Arguments = std::map<std::string, std::string>;

std::string get(const Arguments& arguments, const std::string& name) {
  const auto found = arguments.find(name);
  return found == arguments.end() ? "" : found->second;
}

std::string file_of(const Arguments& arguments, const std::string& name) {
  std::ifstream file(get(arguments, name));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Duration timeout_of(const Arguments& arguments) {
  const std::string text = get(arguments, "timeout");
  return text.empty() ? kSendWithin : parse_duration("timeout", text).value();
}

struct World {
  SystemClock clock;
  NullLog log;
  std::unique_ptr<http::Client> client = http::Client::open({}).value();
};

Result<std::shared_ptr<Channel>> make_channel(const std::string& type, const Arguments& arguments,
                                              World& world) {
  Endpoint endpoint{.url = get(arguments, "url"),
                    .timeout = timeout_of(arguments),
                    .authorities = file_of(arguments, "authorities")};
  const std::string secret = get(arguments, "secret");
  if (type == "slack") return make_slack_channel(type, endpoint, *world.client, world.clock);
  if (type == "wecom") return make_wecom_channel(type, endpoint, *world.client, world.clock);
  if (type == "feishu")
    return make_feishu_channel(type, {endpoint, secret}, *world.client, world.clock);
  if (type == "dingtalk") {
    return make_dingtalk_channel(type, {endpoint, secret}, *world.client, world.clock);
  }
  if (type == "email") {
    return make_email_channel(type,
                              {.server = {.url = endpoint.url,
                                          .user = get(arguments, "user"),
                                          .password = get(arguments, "password"),
                                          .timeout = endpoint.timeout,
                                          .authorities = endpoint.authorities},
                               .from = get(arguments, "from"),
                               .to = {get(arguments, "to")}},
                              world.clock);
  }
  WebhookSettings settings{.endpoint = endpoint,
                           .cloud_events = !get(arguments, "cloud-events").empty()};
  if (!secret.empty()) settings.keys.push_back(http::WebhookKey::parse(secret).value());
  return make_webhook_channel(type, settings, *world.client, world.clock);
}

Notice notice_of(const Arguments& arguments, TimePoint now) {
  return {.id = get(arguments, "id"),
          .event = Event::kDeadLetter,
          .node = "node-1",
          .kind = task::Kind(get(arguments, "kind")),
          .tenant = task::Tenant("acme"),
          .retries = 3,
          .max_retries = 3,
          .reason = "timeout",
          .last_error = get(arguments, "error"),
          .at = now,
          .more = 7,
          .link = get(arguments, "link")};
}

int run(const std::string& type, const Arguments& arguments) {
  World world;
  auto channel = make_channel(type, arguments, world);
  if (!channel) {
    fmt::print("{}\n", channel.error().message);
    return 1;
  }
  std::promise<Delivery> delivered;
  NotifierParts parts;
  parts.channels = {*std::move(channel)};
  parts.on_delivery = [&](const Delivery& delivery) { delivered.set_value(delivery); };
  const auto notifier =
      Notifier::make({.router = {.defaults = {type}}}, std::move(parts), world.clock, world.log)
          .value();
  notifier->fire(notice_of(arguments, world.clock.now()));
  const Delivery delivery = delivered.get_future().get();
  fmt::print("{} {} {}\n", to_string(delivery.result), delivery.tries, delivery.error);
  return delivery.result == DeliveryResult::kSent ? 0 : 1;
}

}  // namespace
}  // namespace recourse::notify

int main(int argc, char** argv) {
  recourse::notify::Arguments arguments;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      fmt::print(stderr, "{} is not NAME=VALUE\n", argument);
      return 2;
    }
    arguments[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  return argc < 2 ? 2 : recourse::notify::run(argv[1], arguments);
}
