#include "notify/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "task/kind_name.h"

namespace recourse::notify {
namespace {

constexpr std::size_t kRulesMax = 1'000;

bool matches(const RouteRule& rule, const Notice& notice) {
  const auto holds = [](const auto& list, const auto& fits) {
    return list.empty() || std::ranges::any_of(list, fits);
  };
  return severity_of(notice) >= rule.from &&
         holds(rule.events, [&](Event event) { return event == notice.event; }) &&
         holds(rule.tenants, [&](const auto& name) { return name == notice.tenant.value; }) &&
         holds(rule.kinds, [&](const auto& name) { return task::fits(name, notice.kind.value); });
}

Result<> check_channels(std::string_view where, const std::vector<std::string>& channels,
                        std::span<const std::string> known) {
  for (const std::string& channel : channels) {
    if (std::ranges::find(known, channel) != known.end()) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("{} names the channel {}, which is not there; there {}: {}", where,
                            shown(channel), known.size() == 1 ? "is" : "are",
                            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  return {};
}

}  // namespace

Result<> validate(const RouterSettings& settings, std::span<const std::string> known_channels) {
  if (settings.rules.size() > kRulesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("router.rules must be at most {}", kRulesMax));
  }
  for (std::size_t i = 0; i < settings.rules.size(); ++i) {
    const RouteRule& rule = settings.rules[i];
    const std::string where = rule.name.empty() ? fmt::format("router.rules[{}]", i)
                                                : fmt::format("the rule {}", shown(rule.name));
    if (Result<> known = check_channels(where, rule.channels, known_channels); !known) return known;
  }
  return check_channels("router.defaults", settings.defaults, known_channels);
}

std::vector<std::string> RuleRouter::route(const Notice& notice) const {
  std::vector<std::string> channels;
  bool matched = false;
  for (const RouteRule& rule : settings_.rules) {
    if (!matches(rule, notice)) continue;
    matched = true;
    for (const std::string& channel : rule.channels) {
      if (std::ranges::find(channels, channel) == channels.end()) channels.push_back(channel);
    }
    if (settings_.mode == RouteMode::kFirst) break;
  }
  return matched ? channels : settings_.defaults;
}

}  // namespace recourse::notify
