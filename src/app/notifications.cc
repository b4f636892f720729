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
#include "notify/channels/log_channel.h"
#include "notify/channels/slack.h"
#include "notify/channels/webhook_channel.h"
#include "notify/channels/wecom.h"

namespace recourse::app {
namespace {

using notify::Event;
using notify::Notice;
using notify::Severity;
using MadeChannel = Result<std::shared_ptr<notify::Channel>>;

// What was told last, written into the store.
constexpr Duration kRecordsEndWithin = std::chrono::seconds(3);
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

Notice notice(Event event, std::string reason, std::string text) {
  Notice notice{.event = event};
  notice.reason = std::move(reason);
  notice.last_error = std::move(text);
  return notice;
}

std::optional<Notice> notice_of_breaker(const engine::BreakerChanged& changed) {
  using policy::BreakerState;
  // Half open and open again is the same trouble.
  const bool opened =
      changed.change.to == BreakerState::kOpen && changed.change.from == BreakerState::kClosed;
  if (!opened && changed.change.to != BreakerState::kClosed) return std::nullopt;
  Notice told = notice(opened ? Event::kBreakerOpened : Event::kBreakerClosed,
                       std::string(to_string(changed.change.to)), "");
  told.kind = changed.kind;
  return told;
}

std::optional<Notice> notice_of_node(const engine::NodeHappened& happened) {
  using engine::NodeEvent;
  const auto told = [&](Event event, std::optional<Severity> severity = std::nullopt) {
    Notice one = notice(event, std::string(to_string(happened.event)), happened.detail);
    one.severity = severity;
    if (happened.count != 1) one.attributes["count"] = fmt::format("{}", happened.count);
    return one;
  };
  switch (happened.event) {
    case NodeEvent::kAdopted:
    case NodeEvent::kPeerDead: return told(Event::kTakeover);
    case NodeEvent::kHeartbeatFailed: return told(Event::kLeaseRenewFailed);
    // Nothing is started any more: it is not one lease, it is all of them.
    case NodeEvent::kFenced: return told(Event::kLeaseRenewFailed, Severity::kCritical);
    case NodeEvent::kStoreFailed:
    case NodeEvent::kUnsubmitted:
    case NodeEvent::kWriteGivenUp: return told(Event::kPersistFailed);
    case NodeEvent::kDeclared:
    case NodeEvent::kJoinFailed:
    case NodeEvent::kMissed: return told(Event::kEngineError);
    case NodeEvent::kJoined:
    case NodeEvent::kUnfenced:
    case NodeEvent::kRefused:
    case NodeEvent::kDropped:
    case NodeEvent::kReconciled: return std::nullopt;
  }
  std::abort();
}

}  // namespace

std::optional<Notice> notice_of(const engine::Happening& happening) {
  if (const auto* changed = std::get_if<engine::BreakerChanged>(&happening)) {
    return notice_of_breaker(*changed);
  }
  if (const auto* happened = std::get_if<engine::NodeHappened>(&happening)) {
    return notice_of_node(*happened);
  }
  return std::nullopt;
}

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
    made->notifier_ = std::make_unique<notify::Notifier>();
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
  auto notifier =
      notify::Notifier::make(settings_of(config), std::move(channels), parts.clock, parts.log);
  if (!notifier) return fail(in_keys(notifier.error()));
  made->notifier_ = *std::move(notifier);
  made->teller_ = std::make_unique<notify::CaseTeller>(
      parts.opened.cases(),
      [notifier = made->notifier_.get()](Notice told, notify::Ended ended) {
        notifier->fire(std::move(told), std::move(ended));
      },
      notify::TellerSettings{.book = config.reminders, .sayer = parts.sayer}, parts.clock,
      parts.log);
  return made;
}

void Notifications::begin() {
  std::vector<Notice> early;
  {
    const MutexLock lock(mutex_);
    begun_ = true;
    early = std::exchange(early_, {});
  }
  for (Notice& one : early) notifier_->fire(std::move(one));
  if (teller_ != nullptr) teller_->start();
}

bool Notifications::has_begun(Notice& notice) {
  const MutexLock lock(mutex_);
  if (!begun_ && early_.size() < kEarlyMax) early_.push_back(std::move(notice));
  return begun_;
}

void Notifications::happened(const engine::Happening& happening) {
  if (teller_ == nullptr) return;
  if (const auto* moved = std::get_if<engine::Moved>(&happening)) {
    if (task::needs_person(moved->to)) teller_->hint();
    return;
  }
  std::optional<Notice> told = notice_of(happening);
  if (!told) return;
  told->id = "evt_" + to_string(parts_.ids.next());
  told->node = parts_.sayer.node;
  told->at = parts_.clock.now();
  if (has_begun(*told)) notifier_->fire(*std::move(told));
}

// The teller's book is closed last: what is told while the notifier ends belongs into it.
void Notifications::stop(Duration within) {
  if (teller_ != nullptr) teller_->close();
  notifier_->stop(within);
  if (teller_ != nullptr) teller_->stop(std::min(within, kRecordsEndWithin));
  if (deliveries_ != nullptr) deliveries_->stop(std::min(within, kDeliveriesEndWithin));
}

}  // namespace recourse::app
