// The keys of notifications: channels, rules, when to be quiet, what to hide.
#include <fmt/format.h>

#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "http/reach.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

// Words of an enum, as a list.
template <class Enum, std::size_t N>
Key choices(std::string path, std::vector<Enum>& values, const std::array<Enum, N>& all,
            const About& about) {
  const auto find = [all](std::string_view word) -> std::optional<Enum> {
    for (const Enum value : all) {
      if (to_string(value) == word) return value;
    }
    return std::nullopt;
  };
  Place<std::vector<std::string>> place{[&values] {
                                          std::vector<std::string> words;
                                          for (const Enum value : values)
                                            words.emplace_back(to_string(value));
                                          return std::optional(words);
                                        },
                                        [&values, find](const std::vector<std::string>& words) {
                                          values.clear();
                                          for (const std::string& word : words) {
                                            if (const auto value = find(word))
                                              values.push_back(*value);
                                          }
                                        }};
  return list(std::move(path), place, about, [find, all](std::string_view word) -> std::string {
    if (find(word)) return "";
    std::string known;
    for (const Enum value : all)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(value));
    return "must be one of " + known;
  });
}

std::string check_network(std::string_view text) {
  return http::AddressRange::parse(text) ? "" : "must be a network such as 10.1.0.0/16";
}

Key only(std::string_view type, Key key) {
  key.only = type;
  return key;
}

// As they were written: `22:00-07:30`.
Key quiet_ranges(notify::QuietSettings& quiet) {
  const auto text_of = [](const notify::QuietRange& range) {
    const auto clock = [](Duration time) {
      const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
      return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
    };
    return clock(range.begin) + "-" + clock(range.end);
  };
  Place<std::vector<std::string>> place{
      [&quiet, text_of] {
        std::vector<std::string> texts;
        for (const notify::QuietRange& range : quiet.ranges) texts.push_back(text_of(range));
        return std::optional(texts);
      },
      [&quiet](const std::vector<std::string>& texts) {
        quiet.ranges.clear();
        for (const std::string& text : texts) {
          if (const auto range = notify::parse_quiet_range("", text))
            quiet.ranges.push_back(*range);
        }
      }};
  return list("ranges", place,
              {"Times of day at which nobody is disturbed; what happens then is summed up at their "
               "end.",
               Reload::kRestart, "[\"22:00-07:30\"]"},
              [](std::string_view text) -> std::string {
                return notify::parse_quiet_range("", text) ? "" : "must look like 22:00-07:30";
              });
}

Key channels_key(NotifyConfig& config) {
  Items items{.max = 100};
  items.add = [&config](const std::string& name) {
    return channel_keys(config.channels.try_emplace(name).first->second);
  };
  items.all = [&config] {
    std::vector<std::pair<std::string, Keys>> all;
    for (auto& [name, channel] : config.channels) all.emplace_back(name, channel_keys(channel));
    return all;
  };
  items.refuse_name = [](std::string_view name) -> std::string {
    return name == "log" ? "is the channel that is always there" : check_name(name);
  };
  return {.path = "channels",
          .type = "a map of channels by name",
          .about = {"Ways to reach people, beside `log`, which is always there."},
          .items = std::make_shared<const Items>(std::move(items))};
}

Keys rule_keys(notify::RouteRule& rule) {
  return {
      choices("events", rule.events, notify::kAllEvents,
              {"Which events; all where not given.", Reload::kRestart, "[dead_letter]"}),
      list("tenants", at(rule.tenants), {"Of which tenants.", Reload::kRestart, "[acme]"}),
      list("kinds", at(rule.kinds),
           {"Of which kinds; one that ends in * stands for all that begin so.", Reload::kRestart,
            "[orders.*]"}),
      choice("from", at(rule.from), notify::kAllSeverities, {"Of this severity or more."}),
      required(list("channels", at(rule.channels),
                    {"Where it goes; an empty list: nowhere.", Reload::kRestart, "[ops]"})),
  };
}

Key rules_key(NotifyConfig& config) {
  Items items{.listed = true, .max = 100};
  items.add = [&config](const std::string& name) {
    for (notify::RouteRule& rule : config.rules) {
      if (rule.name == name) return rule_keys(rule);
    }
    return rule_keys(config.rules.emplace_back(notify::RouteRule{.name = name}));
  };
  items.all = [&config] {
    std::vector<std::pair<std::string, Keys>> all;
    for (notify::RouteRule& rule : config.rules) all.emplace_back(rule.name, rule_keys(rule));
    return all;
  };
  items.refuse_name = check_name;
  return {.path = "rules",
          .type = "a list of rules, each with a name",
          .about = {"Which channels get what, in their order; what no rule matches goes to "
                    "notify.defaults."},
          .items = std::make_shared<const Items>(std::move(items))};
}

}  // namespace

Keys channel_keys(ChannelConfig& channel) {
  return {
      required(choice("type", at(channel.type), kAllChannelTypes,
                      {"How it reaches people.", Reload::kRestart, "slack"})),
      duration("timeout", at(channel.timeout), 100ms, 10s, {"How long one message may take."}),
      boolean("reach.public-only", at(channel.reach.public_only),
              {"Whether it may go only to addresses that the whole internet reaches: not to this "
               "machine, nor to private and other special networks."}),
      list("reach.allowed", at(channel.reach.allowed),
           {"Networks that it may go to all the same; only with public-only.", Reload::kRestart,
            "[10.1.0.0/16]"},
           check_network),
      text("authorities", at(channel.authorities),
           {"A PEM file with the certificates of the authorities to trust instead of the system's.",
            Reload::kRestart, "/etc/recourse/authorities.pem"},
           check_not_empty),
      only("webhook, slack, feishu, dingtalk or wecom",
           secret("url", at(channel.url), 8,
                  {"Where messages are sent to: kept like a password, since whoever knows a chat's "
                   "address can write there.",
                   Reload::kRestart, "env:SLACK_URL"})),
      only("feishu or dingtalk", secret("secret", at(channel.secret), 1,
                                        {"What signs, of robots that ask for it.", Reload::kRestart,
                                         "env:ROBOT_SECRET"})),
      only("webhook", secrets("signing-secrets", at(channel.signing), 24,
                              {"Keys of the Standard Webhooks signature; each signs.",
                               Reload::kRestart, "[env:WEBHOOK_KEY]"})),
      only("webhook", text_map("headers", at(channel.headers),
                               {"Headers of each message.", Reload::kRestart, "{X-Team: ops}"})),
      only("webhook",
           secret_map("secret-headers", at(channel.secret_headers),
                      {"The same, kept secret.", Reload::kRestart, "{Authorization: env:HOOK}"})),
      only("webhook", boolean("cloud-events", at(channel.cloud_events),
                              {"CloudEvents 1.0 around each message."})),
      only("email", text("server", at(channel.server),
                         {"smtps://HOST:PORT, or smtp://HOST:PORT, which must then offer STARTTLS.",
                          Reload::kRestart, "smtps://mail.example.com:465"})),
      only("email",
           text("user", at(channel.user), {"Whom it logs in as.", Reload::kRestart, "recourse"})),
      only("email", secret("password", at(channel.password), 1,
                           {"With what.", Reload::kRestart, "env:MAIL_PASSWORD"})),
      only("email", text("from", at(channel.from),
                         {"The sender.", Reload::kRestart, "recourse@example.com"})),
      only("email",
           list("to", at(channel.to), {"Who gets it.", Reload::kRestart, "[ops@example.com]"})),
  };
}

Keys notify_keys(NotifyConfig& config) {
  notify::NotifierSettings& settings = config.settings;
  Keys keys{channels_key(config), rules_key(config)};
  keys.push_back(choice("route", at(settings.router.mode), notify::kAllRouteModes,
                        {"Whether the first rule that matches decides, or all that match."}));
  keys.push_back(
      list("defaults", at(settings.router.defaults), {"The channels of what no rule matches."}));
  append(keys, "allow",
         {choices("events", settings.allow.events, notify::kAllEvents,
                  {"Only these events; all where not given.", Reload::kRestart, "[dead_letter]"}),
          list("kinds", at(settings.allow.kinds),
               {"Only these kinds.", Reload::kRestart, "[orders.*]"}),
          list("tenants", at(settings.allow.tenants),
               {"Only these tenants.", Reload::kRestart, "[acme]"}),
          choice("from", at(settings.allow.from), notify::kAllSeverities,
                 {"Only of this severity or more."})});
  append(keys, "quiet-hours",
         {quiet_ranges(settings.quiet_hours),
          text("zone", at(settings.quiet_hours.zone), {"In which time zone."}),
          choice("not-from", at(settings.quiet_hours.not_from), notify::kAllSeverities,
                 {"What is this severe wakes people up."})});
  append(keys, "masking",
         {choices("masks", settings.masking.masks, notify::kAllMasks,
                  {"What is made unreadable before anything leaves."}),
          list("patterns", at(settings.masking.patterns),
               {"Further ones, as regular expressions (RE2); the first group, or all of it.",
                Reload::kRestart, "['account ([0-9]+)']"})});
  append(
      keys, "reminders",
      {duration("interval", at(config.reminders.reminders.interval), 1s, kLongestWait,
                {"The first reminder comes after this, the second after twice as long, and so on, "
                 "until somebody retries, resolves, ignores or takes the task."}),
       duration("hold", at(config.reminders.hold), 1s, 10min,
                {"How long a node has for telling; what it held when it died is told by another "
                 "after that."})});
  keys.push_back(alerts_key(config));
  keys.push_back(duration("alerts-every", at(config.look_at_alerts_every), 1s, 1h,
                          {"How often the figures of the alerts are looked at."}));
  append(keys, "deliveries",
         {duration("keep", at(config.keep_deliveries), 1h, 90 * 24h,
                   {"How long `recourse notify deliveries` shows what became of a notice."})});
  return keys;
}

}  // namespace recourse::app
