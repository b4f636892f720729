#include "http/server/http_date.h"

#include <fmt/format.h>

#include <array>

namespace recourse::http {
namespace {

constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string http_date(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays.at(std::chrono::weekday(day).c_encoding()),
      static_cast<unsigned>(date.day()), kMonths.at(static_cast<unsigned>(date.month()) - 1),
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

std::string_view DateLine::at(TimePoint now) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  if (second != second_ || text_.empty()) {
    second_ = second;
    text_ = http_date(second);
  }
  return text_;
}

}  // namespace recourse::http
