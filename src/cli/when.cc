#include "cli/when.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace recourse::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::duration_cast;

struct Parts {
  std::int64_t days, hours, minutes, seconds;
};

Parts parts_of(Duration duration) {
  const std::int64_t seconds = duration_cast<std::chrono::seconds>(duration).count();
  return {seconds / 86'400, seconds / 3'600 % 24, seconds / 60 % 60, seconds % 60};
}

std::string days_text(std::int64_t count) {
  return fmt::format("{} day{}", count, count == 1 ? "" : "s");
}

// In one unit.
std::string rough(Duration duration) {
  const Parts parts = parts_of(duration);
  if (parts.days > 0) return days_text(parts.days);
  if (parts.hours > 0) return fmt::format("{} h", parts.hours);
  if (parts.minutes > 0) return fmt::format("{} min", parts.minutes);
  return fmt::format("{}s", parts.seconds);
}

bool is_in_calendar(TimePoint moment) {
  constexpr TimePoint kEnd = std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1);
  return moment >= TimePoint{} && moment < kEnd;
}

std::string date_of(TimePoint moment) {
  const std::chrono::year_month_day date(std::chrono::floor<days>(moment));
  return fmt::format("{:04}-{:02}-{:02}", int{date.year()}, unsigned{date.month()},
                     unsigned{date.day()});
}

}  // namespace

std::string relative(TimePoint moment, TimePoint now) {
  // The difference of two far ends would not fit.
  if (!is_in_calendar(moment)) return exact(moment);
  const Duration distance = moment > now ? moment - now : now - moment;
  if (distance < 1s) return "now";
  if (distance > days(30)) return date_of(moment);
  return moment > now ? fmt::format("in {}", rough(distance))
                      : fmt::format("{} ago", rough(distance));
}

std::string length_of(Duration duration) {
  if (duration < Duration::zero()) return "0s";
  if (duration < 1ms) return fmt::format("{}us", duration.count());
  if (duration < 1s)
    return fmt::format("{}ms", duration_cast<std::chrono::milliseconds>(duration).count());
  const Parts parts = parts_of(duration);
  std::string second;
  if (parts.days > 0) {
    if (parts.hours > 0) second = fmt::format(" {} h", parts.hours);
  } else if (parts.hours > 0) {
    if (parts.minutes > 0) second = fmt::format(" {} min", parts.minutes);
  } else if (parts.minutes > 0 && parts.seconds > 0) {
    second = fmt::format(" {}s", parts.seconds);
  }
  return rough(duration) + second;
}

std::string exact(TimePoint moment) {
  if (moment == kNever) return "never";
  if (!is_in_calendar(moment)) return moment < TimePoint{} ? "before 1970" : "after 9999";
  const auto day = std::chrono::floor<days>(moment);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::milliseconds>(moment - day));
  const auto fraction = time.subseconds().count();
  return fmt::format("{}T{:02}:{:02}:{:02}{}Z", date_of(moment), time.hours().count(),
                     time.minutes().count(), time.seconds().count(),
                     fraction == 0 ? "" : fmt::format(".{:03}", fraction));
}

}  // namespace recourse::cli
