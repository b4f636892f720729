#include "app/notifications.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/authorities.h"
#include "app/notify_errors.h"
#include "notify/channels/chat_channel.h"
#include "notify/channels/dingtalk.h"
#include "notify/channels/email_channel.h"
#include "notify/channels/feishu.h"
#include "notify/channels/slack.h"
#include "notify/channels/webhook_channel.h"
#include "notify/channels/wecom.h"
#include "notify/log_channel.h"

namespace recourse::app {
namespace {

using MadeChannel = Result<std::shared_ptr<notify::Channel>>;

// What became of the last messages, written into the store.
constexpr Duration kDeliveriesEndWithin = std::chrono::seconds(2);

notify::NotifierSettings settings_of(const NotifyConfig& config) {
  notify::NotifierSettings settings = config.settings;
  settings.router.rules.assign(config.rules.begin(), config.rules.end());
  return settings;
}

std::vector<std::string> names_of(const NotifyConfig& config) {
  std::vector<std::string> names{"log"};
  for (const auto& [name, channel] : config.channels) names.push_back(name);
  return names;
}

notify::Endpoint endpoint_of(const ChannelConfig& channel, const std::string& authorities) {
  return {.url = channel.url.reveal(),
          .timeout = channel.timeout,
          .reach = channel.reach,
          .authorities = authorities};
}

Result<notify::WebhookSettings> webhook_of(const ChannelConfig& channel,
                                           const std::string& authorities) {
  notify::WebhookSettings settings{.endpoint = endpoint_of(channel, authorities),
                                   .cloud_events = channel.cloud_events};
  for (const auto& [name, value] : channel.headers) settings.headers.set(name, value);
  for (const auto& [name, value] : channel.secret_headers) {
    settings.headers.set(name, value.reveal());
  }
  for (const Secret& secret : channel.signing) {
    auto key = http::WebhookKey::parse(secret.reveal());
    if (!key) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("signing-secrets: {}: {}", secret.reference(), key.error().message));
    }
    settings.keys.push_back(*std::move(key));
  }
  return settings;
}

notify::EmailSettings email_of(const ChannelConfig& channel, const std::string& authorities) {
  return {.server = {.url = channel.server,
                     .user = channel.user,
                     .password = channel.password.reveal(),
                     .timeout = channel.timeout,
                     .reach = channel.reach,
                     .authorities = authorities},
          .from = channel.from,
          .to = channel.to};
}

notify::ChatSettings chat_of(const ChannelConfig& channel, const std::string& authorities) {
  return {.endpoint = endpoint_of(channel, authorities), .secret = channel.secret.reveal()};
}

MadeChannel make_channel(const std::string& name, const ChannelConfig& channel,
                         http::Client& client, const Clock& clock) {
  if (!channel.reach.allowed.empty() && !channel.reach.public_only) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}.reach.allowed says nothing while everything is allowed: set "
                            "reach.public-only to true, or leave it out",
                            to_string(channel.type)));
  }
  const Result<std::string> trusted = read_authorities(channel.authorities);
  if (!trusted) {
    return fail(trusted.error().code,
                fmt::format("{}.authorities {}", to_string(channel.type), trusted.error().message));
  }
  switch (channel.type) {
    case ChannelType::kWebhook: {
      auto settings = webhook_of(channel, *trusted);
      if (!settings) return fail(settings.error());
      return notify::make_webhook_channel(name, *std::move(settings), client, clock);
    }
    case ChannelType::kSlack:
      return notify::make_slack_channel(name, endpoint_of(channel, *trusted), client, clock);
    case ChannelType::kFeishu:
      return notify::make_feishu_channel(name, chat_of(channel, *trusted), client, clock);
    case ChannelType::kDingtalk:
      return notify::make_dingtalk_channel(name, chat_of(channel, *trusted), client, clock);
    case ChannelType::kWecom:
      return notify::make_wecom_channel(name, endpoint_of(channel, *trusted), client, clock);
    case ChannelType::kEmail:
      return notify::make_email_channel(name, email_of(channel, *trusted), clock);
  }
  std::abort();
}

// The rules', and for rows of guarded tables the e-mail that was asked for besides.
class GuardMailRouter final : public notify::Router {
 public:
  GuardMailRouter(notify::RouterSettings rules, std::string channel)
      : rules_(std::move(rules)), channel_(std::move(channel)) {}

  [[nodiscard]] std::vector<std::string> route(const notify::Notice& notice) const override {
    std::vector<std::string> channels = rules_.route(notice);
    const bool is_of_row =
        notice.kind.value.starts_with("guard.") && notice.attributes.contains("row");
    if (is_of_row) channels.push_back(channel_);
    return channels;
  }

 private:
  const notify::RuleRouter rules_;
  const std::string channel_;
};

}  // namespace

std::vector<api::ChannelCard> channel_cards_of(const NotifyConfig& config) {
  std::vector<api::ChannelCard> cards{{.name = "log", .type = "log"}};
  for (const auto& [name, channel] : config.channels) {
    cards.push_back({.name = name, .type = std::string(to_string(channel.type))});
  }
  return cards;
}

Result<> check_notify(const NotifyConfig& config) {
  if (!config.enabled) return {};
  const auto client = http::Client::open({.connections_max = 1});
  if (!client) return fail(client.error());
  const SystemClock clock;
  for (const auto& [name, channel] : config.channels) {
    const MadeChannel made = make_channel(name, channel, **client, clock);
    if (!made) return fail(in_keys(name, channel.type, made.error()));
  }
  if (Result<> valid = notify::validate(config.reminders); !valid) {
    return fail(in_keys(valid.error()));
  }
  Result<> valid = notify::validate(settings_of(config), names_of(config));
  return valid ? valid : fail(in_keys(valid.error()));
}

Result<std::unique_ptr<Notifications>> Notifications::make(const NotifyConfig& config,
                                                           const Parts& parts) {
  std::unique_ptr<Notifications> made(new Notifications(parts));
  if (!config.enabled) {
    made->telling_ = made->telling(std::make_unique<notify::Notifier>(), config.reminders);
    return made;
  }
  made->deliveries_ = std::make_unique<notify::DeliveryLog>(
      parts.opened.records(), parts.ids, parts.clock, parts.log,
      notify::DeliveryLogSettings{.keep = config.keep_deliveries}, parts.sayer.node);
  notify::NotifierParts channels;
  channels.on_delivery = [log = made->deliveries_.get()](const notify::Delivery& delivery) {
    log->add(delivery);
  };
  channels.channels.push_back(std::make_shared<notify::LogChannel>(parts.log));
  for (const auto& [name, channel] : config.channels) {
    MadeChannel one = make_channel(name, channel, parts.client, parts.clock);
    if (!one) return fail(in_keys(name, channel.type, one.error()));
    channels.channels.push_back(*std::move(one));
  }
  notify::NotifierSettings settings = settings_of(config);
  if (!config.guard_channel.empty()) {
    channels.router = std::make_unique<GuardMailRouter>(settings.router, config.guard_channel);
  }
  auto notifier =
      notify::Notifier::make(std::move(settings), std::move(channels), parts.clock, parts.log);
  if (!notifier) return fail(in_keys(notifier.error()));
  made->telling_ = made->telling(*std::move(notifier), config.reminders);
  return made;
}

std::unique_ptr<embed::Telling> Notifications::telling(std::unique_ptr<notify::Notifier> notifier,
                                                       const notify::CaseBookSettings& book) const {
  return std::make_unique<embed::Telling>(
      embed::Telling::Parts{.cases = parts_.opened.cases(),
                            .ids = parts_.ids,
                            .clock = parts_.clock,
                            .log = parts_.log},
      std::move(notifier), notify::TellerSettings{.book = book, .sayer = parts_.sayer});
}

void Notifications::stop(Duration within) {
  telling_->stop(within);
  if (deliveries_ != nullptr) deliveries_->stop(std::min(within, kDeliveriesEndWithin));
}

}  // namespace recourse::app
