#include "embed/notifications.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/field_checks.h"
#include "base/text.h"
#include "base/time.h"
#include "notify/log_channel.h"

namespace recourse::embed {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kLog = "log";

Severity severity_of_user(notify::Severity severity) {
  switch (severity) {
    case notify::Severity::kInfo: return Severity::kInfo;
    case notify::Severity::kWarning: return Severity::kWarning;
    case notify::Severity::kError: return Severity::kError;
    case notify::Severity::kCritical: return Severity::kCritical;
  }
  std::abort();
}

class UsersChannel final : public notify::Channel {
 public:
  UsersChannel(std::shared_ptr<NoticeChannel> channel, std::string name)
      : channel_(std::move(channel)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool supports(const notify::Notice& notice) const override {
    try {
      return channel_->supports(notice_for_users(notice));
    } catch (...) {
      // Rather one too many than none.
      return true;
    }
  }
  // What it throws ends the letter for good; the dispatcher says so.
  Result<> send(const notify::Notice& notice, std::stop_token stop) override {
    return channel_->send(notice_for_users(notice), std::move(stop));
  }

 private:
  const std::shared_ptr<NoticeChannel> channel_;
  const std::string name_;
};

class UsersRouter final : public notify::Router {
 public:
  using Route = std::function<std::vector<std::string>(const Notice&)>;
  explicit UsersRouter(Route route) : route_(std::move(route)) {}

  [[nodiscard]] std::vector<std::string> route(const notify::Notice& notice) const override {
    try {
      return route_(notice_for_users(notice));
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      throw std::runtime_error("it threw what is no std::exception");
    }
  }

 private:
  const Route route_;
};

class UsersFilter final : public notify::Filter {
 public:
  using Judge = std::function<NoticeVerdict(const Notice&)>;
  explicit UsersFilter(Judge judge) : judge_(std::move(judge)) {}

  notify::Verdict judge(const notify::Notice& notice, notify::Now now) override {
    NoticeVerdict verdict = judge_(notice_for_users(notice));
    switch (verdict.answer) {
      case NoticeVerdict::Answer::kPass: return {};
      case NoticeVerdict::Answer::kHoldBack:
        return {.answer = notify::Verdict::Answer::kHoldBack,
                .until = saturating_add(now.steady, verdict.wait),
                .why = std::move(verdict.why)};
      case NoticeVerdict::Answer::kDrop:
        return {.answer = notify::Verdict::Answer::kUnwanted, .why = std::move(verdict.why)};
    }
    return {};
  }

 private:
  const Judge judge_;
};

Result<> check(const NotificationOptions& options) {
  for (const auto& channel : options.channels) {
    if (!channel) return fail(ErrorCode::kInvalid, "notify: channels: one of them is null");
  }
  for (const auto& filter : options.filters) {
    if (!filter) return fail(ErrorCode::kInvalid, "notify: filters: one of them is empty");
  }
  return FieldChecks("notify")
      .between<Duration>("rate_window", options.rate_window, 1ms, notify::kWindowMax)
      .between("rate_threshold", options.rate_threshold, 1, notify::kThresholdMax)
      .between<Duration>("remind_every", options.remind_every, 1s, 24h * 365)
      .result();
}

Result<> add_channel(std::vector<std::shared_ptr<notify::Channel>>& channels,
                     const std::shared_ptr<NoticeChannel>& channel) {
  std::string name = channel->name();
  if (name.empty()) return fail(ErrorCode::kInvalid, "notify: a channel has no name");
  for (const auto& known : channels) {
    if (known->name() != name) continue;
    return fail(ErrorCode::kInvalid,
                name == kLog
                    ? "notify: a channel is called `log`, which is the engine's own: rename it"
                    : fmt::format("notify: two channels are called {}: rename one", shown(name)));
  }
  channels.push_back(std::make_shared<UsersChannel>(channel, std::move(name)));
  return {};
}

notify::NotifierSettings notifier_settings_of(const NotificationOptions& options) {
  notify::NotifierSettings settings;
  settings.rate_limit = {.window = options.rate_window, .threshold = options.rate_threshold};
  settings.masking.patterns = options.mask_patterns;
  return settings;
}

}  // namespace

Notice notice_for_users(const notify::Notice& notice) {
  return {.id = notice.id,
          .event = std::string(to_string(notice.event)),
          .severity = severity_of_user(severity_of(notice)),
          .node = notice.node,
          .kind = notice.kind.value,
          .task = notice.task ? task::to_string(*notice.task) : "",
          .tenant = notice.tenant.value,
          .retries = notice.retries,
          .max_retries = notice.max_retries,
          .reason = notice.reason,
          .error = notice.last_error,
          .at = notice.at,
          .reminder = notice.reminder,
          .more = notice.more,
          .attributes = notice.attributes,
          .link = notice.link};
}

Result<std::unique_ptr<Telling>> make_telling(const NotificationOptions& options,
                                              const Telling::Parts& parts, std::string node) {
  if (Result<> valid = check(options); !valid) return fail(valid.error());
  notify::NotifierParts brought;
  brought.channels.push_back(std::make_shared<notify::LogChannel>(parts.log));
  for (const auto& channel : options.channels) {
    if (Result<> added = add_channel(brought.channels, channel); !added) return fail(added.error());
  }
  notify::NotifierSettings settings = notifier_settings_of(options);
  if (!options.channels.empty()) {
    settings.router.defaults.clear();
    for (std::size_t i = 1; i < brought.channels.size(); ++i) {
      settings.router.defaults.push_back(brought.channels[i]->name());
    }
  }
  if (options.router) brought.router = std::make_unique<UsersRouter>(options.router);
  for (const auto& filter : options.filters) {
    brought.filters.push_back(std::make_unique<UsersFilter>(filter));
  }
  notify::TellerSettings teller{.book = {.reminders = {.interval = options.remind_every}},
                                .sayer = {.node = std::move(node), .link = options.link}};
  if (Result<> valid = validate(teller); !valid) return fail(valid.error());
  auto notifier = notify::Notifier::make(settings, std::move(brought), parts.clock, parts.log);
  if (!notifier) return fail(notifier.error());
  return std::make_unique<Telling>(parts, *std::move(notifier), teller);
}

}  // namespace recourse::embed
