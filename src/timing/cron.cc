#include "timing/cron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/text.h"
#include "timing/cron_field.h"

namespace recourse::timing {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::sys_days;

// After this the calendar repeats itself, weekdays included: what did not come by then never does.
constexpr days kWholeCycle{146'097};
constexpr sys_days kLastDay{std::chrono::year{9999} / std::chrono::December / 31};

bool has(std::uint64_t bits, unsigned value) { return (bits >> value & 1) != 0; }

// The first allowed value from `least` on; 64 where there is none.
int first_from(std::uint64_t bits, int least) {
  return least > 63 ? 64 : std::countr_zero(bits >> least << least);
}

sys_days next_month(const std::chrono::year_month_day& date) {
  return sys_days{(date.year() / date.month() + std::chrono::months{1}) / 1};
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != kCronFields.size()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} has {} instead of five: minute hour day-of-month month "
                            "day-of-week, such as \"30 4 * * mon-fri\"; seconds have no field, "
                            "\"every 30s\" says them",
                            shown(text), counted(words.size(), "field")));
  }
  std::array<std::uint64_t, kCronFields.size()> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const Result<std::uint64_t> field = parse_cron_field(kCronFields[i], words[i]);
    if (!field) return fail(field.error());
    bits[i] = *field;
  }
  Cron cron;
  cron.minutes_ = bits[0];
  cron.hours_ = bits[1];
  cron.month_days_ = bits[2];
  cron.months_ = bits[3];
  cron.week_days_ = bits[4];
  cron.either_day_ = !words[2].starts_with('*') && !words[4].starts_with('*');
  return cron;
}

bool Cron::allows(sys_days day) const {
  const bool by_month = has(month_days_, unsigned{std::chrono::year_month_day(day).day()});
  const bool by_week = has(week_days_, std::chrono::weekday(day).c_encoding());
  return either_day_ ? by_month || by_week : by_month && by_week;
}

TimePoint Cron::next_after(TimePoint moment) const {
  if (moment >= kLastDay + days{1}) return kNever;
  const auto start = moment < TimePoint{}
                         ? std::chrono::sys_time<std::chrono::minutes>{}
                         : floor<std::chrono::minutes>(moment) + std::chrono::minutes{1};
  sys_days day = floor<days>(start);
  auto minute_of_day = static_cast<int>((start - day).count());
  const sys_days last = std::min(day + kWholeCycle, kLastDay);
  while (day <= last) {
    const std::chrono::year_month_day date(day);
    if (!has(months_, unsigned{date.month()})) {
      day = next_month(date);
      minute_of_day = 0;
      continue;
    }
    if (allows(day)) {
      int hour = first_from(hours_, minute_of_day / 60);
      int minute = first_from(minutes_, hour == minute_of_day / 60 ? minute_of_day % 60 : 0);
      if (minute > 59) {
        hour = first_from(hours_, hour + 1);
        minute = first_from(minutes_, 0);
      }
      if (hour < 24) return day + std::chrono::hours{hour} + std::chrono::minutes{minute};
    }
    day += days{1};
    minute_of_day = 0;
  }
  return kNever;
}

}  // namespace recourse::timing
