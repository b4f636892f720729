#include "timing/recurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/duration_text.h"
#include "base/text.h"

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEvery = "every ";
constexpr TimePoint kEnd{std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNicknames{
    {{"@hourly", "0 * * * *"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@weekly", "0 0 * * 0"},
     {"@monthly", "0 0 1 * *"},
     {"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"}}};

Result<Duration> parse_interval(std::string_view text) {
  Result<Duration> interval = parse_duration("the interval", text);
  if (!interval) return interval;
  const bool is_whole = *interval % 1s == 0s;
  if (!is_whole || *interval < 1s || *interval > kLongestWait) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the interval must be whole seconds between 1s and {}, not {}",
                            format_duration(kLongestWait), shown(text)));
  }
  return interval;
}

Result<Cron> parse_nickname(std::string_view text) {
  std::string known;
  for (const auto& [name, expression] : kNicknames) {
    if (text == name) return Cron::parse(expression);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  return fail(ErrorCode::kInvalid, fmt::format("{} is unknown; there are: {}", shown(text), known));
}

TimePoint next_multiple(Duration interval, TimePoint moment) {
  if (moment < TimePoint{}) return TimePoint{};
  if (moment >= kEnd) return kNever;
  const TimePoint next{(moment.time_since_epoch() / interval + 1) * interval};
  return next < kEnd ? next : kNever;
}

}  // namespace

Result<Recurrence> Recurrence::parse(std::string_view text) {
  if (text.starts_with(kEvery)) {
    const Result<Duration> interval = parse_interval(text.substr(kEvery.size()));
    if (!interval) return fail(interval.error());
    return Recurrence(*interval);
  }
  if (parse_interval(text)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} alone is no recurrence; write \"every {}\"", shown(text), text));
  }
  const Result<Cron> cron = text.starts_with('@') ? parse_nickname(text) : Cron::parse(text);
  if (!cron) return fail(cron.error());
  return Recurrence(*cron);
}

TimePoint Recurrence::next_after(TimePoint moment) const {
  if (const auto* interval = std::get_if<Duration>(&when_)) return next_multiple(*interval, moment);
  return std::get<Cron>(when_).next_after(moment);
}

// By halves, so that a year of minutes is no burst of work either.
std::optional<TimePoint> Recurrence::last_within(TimePoint after, TimePoint until) const {
  until = std::min(until, kEnd - 1us);
  TimePoint found = next_after(after);
  if (found > until) return std::nullopt;
  TimePoint none_after = until;
  while (none_after - found >= 1s) {
    const TimePoint middle = found + (none_after - found) / 2;
    const TimePoint later = next_after(middle);
    if (later <= until) {
      found = later;
    } else {
      none_after = middle;
    }
  }
  return found;
}

}  // namespace recourse::timing
