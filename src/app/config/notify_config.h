// Who is told of what, and how.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/secret.h"
#include "base/time.h"
#include "http/reach.h"
#include "notify/alerts/alert.h"
#include "notify/case_book.h"
#include "notify/delivery_log.h"
#include "notify/notifier.h"

namespace recourse::app {

enum class ChannelType : std::uint8_t {
  kWebhook,
  kSlack,
  kFeishu,
  kDingtalk,
  kWecom,
  kEmail,
};
inline constexpr std::array kAllChannelTypes{ChannelType::kWebhook, ChannelType::kSlack,
                                             ChannelType::kFeishu,  ChannelType::kDingtalk,
                                             ChannelType::kWecom,   ChannelType::kEmail};
constexpr std::string_view to_string(ChannelType type) {
  switch (type) {
    case ChannelType::kWebhook: return "webhook";
    case ChannelType::kSlack: return "slack";
    case ChannelType::kFeishu: return "feishu";
    case ChannelType::kDingtalk: return "dingtalk";
    case ChannelType::kWecom: return "wecom";
    case ChannelType::kEmail: return "email";
  }
  std::abort();
}

struct ChannelConfig {
  ChannelType type = ChannelType::kWebhook;
  Duration timeout = notify::kSendWithin;
  // Which addresses it may go to.
  http::Reach reach = {};
  // A PEM file of those to trust instead of the system's; empty: the system's.
  std::string authorities = {};
  // Whoever knows a chat's URL writes into it, so it is kept like a password.
  Secret url = {};
  // Of Feishu and DingTalk robots that ask for signatures.
  Secret secret = {};
  // Of a webhook: each signs.
  std::vector<Secret> signing = {};
  std::map<std::string, std::string> headers = {};
  std::map<std::string, Secret> secret_headers = {};
  bool cloud_events = false;
  // smtps://HOST, or smtp://HOST with STARTTLS.
  std::string server = {};
  std::string user = {};
  Secret password = {};
  std::string from = {};
  std::vector<std::string> to = {};
};

struct AlertConfig {
  // Its rule is put together from the following.
  notify::AlertDefinition alert = {};
  std::optional<double> at_least = std::nullopt;
  std::optional<double> at_most = std::nullopt;
  std::optional<double> clear = std::nullopt;
};

struct NotifyConfig {
  bool enabled = true;
  // By name, which is what rules and records have. There is always `log` too.
  std::map<std::string, ChannelConfig> channels = {};
  // In their order. A deque: rows of the table of keys point into it.
  std::deque<notify::RouteRule> rules = {};
  // Without the rules.
  notify::NotifierSettings settings = {};
  notify::CaseBookSettings reminders = {};
  // In their order. A deque, as above.
  std::deque<AlertConfig> alerts = {};
  // Gets every notice about guarded rows, whatever the rules say; empty: none does. Follows from
  // abnormal.retry.mail-to.
  std::string guard_channel = {};
  Duration look_at_alerts_every = std::chrono::seconds(15);
  // How long what became of notices can be looked up.
  Duration keep_deliveries = notify::DeliveryLogSettings().keep;
};

}  // namespace recourse::app
