#include "guard/wall_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace recourse::guard {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

std::string text_of(sys_seconds wall) {
  const auto day = std::chrono::floor<std::chrono::days>(wall);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(wall - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::optional<int> number_in(std::string_view digits) {
  int number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

seconds WallClock::offset_at(Seconds moment) const {
  return std::chrono::duration_cast<seconds>(zone_.offset_at(moment));
}

WallClock::Seconds WallClock::change_between(Seconds from, Seconds to) const {
  const seconds wanted = offset_at(to);
  while (to - from > seconds(1)) {
    const Seconds middle = from + (to - from) / 2;
    (offset_at(middle) == wanted ? to : from) = middle;
  }
  return to;
}

WallClock::Seconds WallClock::moment_of(Seconds wall) const {
  const Seconds before = wall - offset_at(wall - hours(24));
  const Seconds after = wall - offset_at(wall + hours(24));
  const auto shows_it = [&](Seconds moment) { return moment + offset_at(moment) == wall; };
  const auto [first, second] = std::minmax(before, after);
  if (shows_it(first)) return first;
  if (shows_it(second)) return second;
  // A clock that was put forward never showed it: the moment it was.
  return change_between(first, second);
}

std::string WallClock::written(TimePoint moment) const {
  const Seconds whole = std::chrono::ceil<seconds>(moment);
  const Seconds wall = whole + offset_at(whole);
  const Seconds first = moment_of(wall);
  if (first == whole) return text_of(wall);
  const Seconds change = change_between(first, whole);
  return text_of(change + offset_at(change - seconds(1)));
}

std::string WallClock::reached(TimePoint now) const {
  const Seconds whole = std::chrono::floor<seconds>(now);
  const Seconds wall = whole + offset_at(whole);
  const Seconds first = moment_of(wall);
  if (first == whole) return text_of(wall);
  const Seconds change = change_between(first, whole);
  return text_of(change + offset_at(change - seconds(1)) - seconds(1));
}

std::optional<TimePoint> WallClock::read(std::string_view text) const {
  constexpr std::string_view kForm = "YYYY-MM-DD HH:MM:SS";
  if (text.size() < kForm.size() || text[4] != '-' || text[7] != '-' ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  std::array<int, 6> parts{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kPlaces{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = number_in(text.substr(kPlaces[i].first, kPlaces[i].second));
    if (!number) return std::nullopt;
    parts[i] = *number;
  }
  const std::chrono::year_month_day date{std::chrono::year(parts[0]),
                                         std::chrono::month(static_cast<unsigned>(parts[1])),
                                         std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!date.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return std::nullopt;
  return moment_of(sys_days(date) + hours(parts[3]) + std::chrono::minutes(parts[4]) +
                   seconds(parts[5]));
}

}  // namespace recourse::guard
