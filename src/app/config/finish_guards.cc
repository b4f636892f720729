#include "app/config/finish_guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/fill.h"
#include "app/config/guard_words.h"

namespace recourse::app {
namespace {

// Beside those of the configuration, where their receivers are others.
constexpr std::string_view kMailChannel = "abnormal-mail";

class GuardFinisher {
 public:
  GuardFinisher(Config& config, const Where& start, Problems& problems)
      : config_(config), start_(start), problems_(problems) {}

  void run() {
    for (auto& [name, guard] : config_.guards) {
      finish_guard(path_of_item("guards", name), name, guard);
    }
    finish_mail();
  }

 private:
  // The first of them that was given.
  [[nodiscard]] Where where(const std::vector<std::string>& paths) const {
    for (const std::string& path : paths) {
      const auto found = config_.origins.find(path);
      if (found != config_.origins.end()) return found->second;
    }
    return start_;
  }

  void finish_guard(const std::string& path, const std::string& name, GuardConfig& guard) {
    guard::GuardSettings& settings = guard.settings;
    if (settings.service_name.empty()) settings.service_name = name;
    const Secret& database = guard.database.is_empty() ? config_.store.url : guard.database;
    if (database.reveal() == "memory:") {
      problems_.error(where({path + ".database", path}),
                      fmt::format("{}.database must be a database that keeps tables, such as "
                                  "sqlite:shop.db",
                                  path));
    }
    if (config_.kinds.contains("guard." + name)) {
      problems_.error(where({path}),
                      fmt::format("{}: there is a kind guard.{} already, and that is what its rows "
                                  "run as; rename one of the two",
                                  path, name));
    }
    if (guard.check.url.empty() && guard.handle.url.empty()) {
      problems_.warning(where({path}),
                        fmt::format("{} has neither check nor handle: nobody mends its rows, so "
                                    "every retry fails and they end with a person; for example "
                                    "handle: https://shop.example.com/bill/handle",
                                    path));
    }
    check_whole(path, engine::validate(guard.lane));
    check_whole(path, guard::validate(settings));
  }

  // Nothing is said twice: it stops at what was said before.
  void check_whole(const std::string& path, const Result<>& valid) {
    if (valid || problems_.has_errors()) return;
    problems_.error(where({path}), fmt::format("{} cannot be set up so: {}", path,
                                               in_words_of_file(valid.error().message)));
  }

  // E-mails about guarded rows go through the server that some e-mail channel names.
  void finish_mail() {
    AbnormalConfig& abnormal = config_.abnormal;
    auto& channels = config_.notify.channels;
    for (auto& [name, channel] : channels) {
      if (channel.type != ChannelType::kEmail) continue;
      if (channel.from.empty()) channel.from = abnormal.mail_from;
      if (channel.to.empty()) channel.to = abnormal.mail_to;
    }
    if (config_.guards.empty()) return warn_of_unused_block();
    if (abnormal.mail_to.empty() || !config_.notify.enabled) return;
    const auto mail = std::ranges::find(channels, ChannelType::kEmail,
                                        [](const auto& one) { return one.second.type; });
    if (mail == channels.end()) {
      problems_.error(where({"abnormal.retry.mail-to"}),
                      "abnormal.retry.mail-to needs a mail server: add an e-mail channel, such as "
                      "notify: {channels: {mail: {type: email, server: "
                      "\"smtps://mail.example.com:465\", user: recourse, password: "
                      "env:MAIL_PASSWORD}}}");
      return;
    }
    ChannelConfig made = mail->second;
    made.to = abnormal.mail_to;
    if (!abnormal.mail_from.empty()) made.from = abnormal.mail_from;
    const bool is_the_same = made.to == mail->second.to && made.from == mail->second.from;
    config_.notify.guard_channel = is_the_same ? mail->first : std::string(kMailChannel);
    if (!is_the_same) channels.insert_or_assign(std::string(kMailChannel), std::move(made));
  }

  void warn_of_unused_block() {
    for (const std::string_view key : {"scan-interval-seconds", "mail-from", "mail-to"}) {
      const std::string path = fmt::format("abnormal.retry.{}", key);
      if (!config_.origins.contains(path)) continue;
      problems_.warning(where({path}),
                        "abnormal.retry is not used: no table is guarded; name one under guards");
      return;
    }
  }

  Config& config_;
  const Where& start_;
  Problems& problems_;
};

}  // namespace

void finish_guards(Config& config, const Where& start, Problems& problems) {
  GuardFinisher(config, start, problems).run();
}

}  // namespace recourse::app
