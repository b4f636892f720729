#include "notify/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/field_checks.h"
#include "base/text.h"
#include "task/kind_name.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

constexpr Duration kDay = std::chrono::days(1);
constexpr std::size_t kRangesMax = 20;

Verdict unwanted(std::string why) {
  return {.answer = Verdict::Answer::kUnwanted, .until = {}, .why = std::move(why)};
}

// `07:30`; 24:00 is midnight at the end of the day.
std::optional<Duration> time_of_day(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto number = [&](std::size_t at) {
    int value = -1;
    const auto read = std::from_chars(text.data() + at, text.data() + at + 2, value);
    return read.ptr == text.data() + at + 2 ? value : -1;
  };
  const int hour = number(0);
  const int minute = number(3);
  if (hour < 0 || minute < 0 || minute > 59 || hour * 60 + minute > 24 * 60) return std::nullopt;
  return std::chrono::hours(hour) + std::chrono::minutes(minute);
}

}  // namespace

Verdict AllowFilter::judge(const Notice& notice, Now) {
  const AllowSettings& allow = settings_;
  if (severity_of(notice) < allow.from) return unwanted("it matters too little");
  const auto lacks = [](const auto& list, const auto& matches) {
    return !list.empty() && std::ranges::none_of(list, matches);
  };
  if (lacks(allow.events, [&](Event event) { return event == notice.event; })) {
    return unwanted("its event is not on the list");
  }
  const std::string& kind = notice.kind.value;
  if (!kind.empty() &&
      lacks(allow.kinds, [&](const auto& name) { return task::fits(name, kind); })) {
    return unwanted("its kind is not on the list");
  }
  const std::string& tenant = notice.tenant.value;
  if (!tenant.empty() && lacks(allow.tenants, [&](const auto& name) { return name == tenant; })) {
    return unwanted("its tenant is not on the list");
  }
  return {};
}

Result<QuietRange> parse_quiet_range(std::string_view field, std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto begin = time_of_day(text.substr(0, dash));
  const auto end =
      dash == std::string_view::npos ? std::nullopt : time_of_day(text.substr(dash + 1));
  if (!begin || !end || *begin == *end || *begin == kDay) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("{} must be two times of day as in 22:00-07:30, not {}", field, shown(text)));
  }
  return QuietRange{*begin, *end};
}

Result<> validate(const QuietSettings& settings) {
  const Result<TimeZone> zone = TimeZone::load(settings.zone);
  FieldChecks checks("quiet_hours");
  checks.require(zone.has_value(), "zone", zone ? "" : zone.error().message)
      .between("ranges", settings.ranges.size(), std::size_t{0}, kRangesMax);
  for (const QuietRange& range : settings.ranges) {
    checks.between<Duration>("ranges.begin", range.begin, 0s, kDay - 1us)
        .between<Duration>("ranges.end", range.end, 0s, kDay)
        .require(range.begin != range.end, "ranges", "must not begin and end at the same time");
  }
  return checks.result();
}

Result<QuietHours> QuietHours::make(const QuietSettings& settings) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  Result<TimeZone> zone = TimeZone::load(settings.zone);
  if (!zone) return fail(std::move(zone).error());
  return QuietHours(settings, *std::move(zone));
}

std::optional<TimePoint> QuietHours::quiet_until(TimePoint wall) const {
  const Duration offset = zone_.offset_at(wall);
  const TimePoint there = wall + offset;
  const Duration of_day = there - std::chrono::floor<std::chrono::days>(there);
  std::optional<TimePoint> until;
  for (const QuietRange& range : settings_.ranges) {
    const bool over_midnight = range.end < range.begin;
    const bool inside = over_midnight ? of_day >= range.begin || of_day < range.end
                                      : of_day >= range.begin && of_day < range.end;
    if (!inside) continue;
    Duration left = range.end - of_day;
    if (left <= Duration::zero()) left += kDay;
    const TimePoint by_this_offset = wall + left;
    const TimePoint end = by_this_offset + offset - zone_.offset_at(by_this_offset);
    until = std::max(until.value_or(end), end);
  }
  return until;
}

Verdict QuietHours::judge(const Notice& notice, Now now) {
  if (severity_of(notice) >= settings_.not_from) return {};
  const auto until = quiet_until(now.wall);
  if (!until) return {};
  // A clock that was put forward in between may have passed the end already.
  return {.answer = Verdict::Answer::kHoldBack,
          .until = now.steady + std::max<Duration>(*until - now.wall, 1ms),
          .why = "it is quiet there"};
}

Result<> validate(const RateLimitSettings& settings) {
  return FieldChecks("rate_limit")
      .between<Duration>("window", settings.window, 1ms, kWindowMax)
      .between("threshold", settings.threshold, 1, kThresholdMax)
      .result();
}

RateLimit::RateLimit(const RateLimitSettings& settings) : settings_(checked(settings)) {}

RateLimit::Window& RateLimit::window_of(const Notice& notice, TimePoint now) {
  const std::pair key(notice.event, notice.kind.value);
  const auto found = windows_.find(key);
  if (found != windows_.end()) return found->second;
  if (windows_.size() >= kWindowsMax) {
    std::erase_if(windows_, [now](const auto& one) { return one.second.ends <= now; });
  }
  if (windows_.size() >= kWindowsMax) return windows_[{notice.event, std::string("*")}];
  return windows_[key];
}

Verdict RateLimit::judge(const Notice& notice, Now now) {
  Window& window = window_of(notice, now.steady);
  if (window.ends <= now.steady) window = {.ends = now.steady + settings_.window, .passed = 0};
  if (window.passed < settings_.threshold) {
    ++window.passed;
    return {};
  }
  return {.answer = Verdict::Answer::kHoldBack,
          .until = window.ends,
          .why = fmt::format("{} within {} went out already", settings_.threshold,
                             format_duration(settings_.window))};
}

}  // namespace recourse::notify
