#include "base/rfc3339.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"

namespace recourse {
namespace {

using namespace std::chrono;

constexpr TimePoint kFirst = sys_days(year(0) / January / 1);
constexpr TimePoint kLast = sys_days(year(10000) / January / 1) - Duration(1);

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a text from the left; what does not fit makes it wrong for good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = next();
      if (!is_digit(c)) wrong_ = true;
      value = value * 10 + (c - '0');
    }
    return wrong_ ? 0 : value;
  }
  void expect(std::string_view any_of) {
    if (any_of.find(next()) == std::string_view::npos) wrong_ = true;
  }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  char next() {
    if (rest_.empty()) {
      wrong_ = true;
      return ' ';
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  Duration fraction() {
    if (peek() != '.') return Duration::zero();
    (void)next();
    if (!is_digit(peek())) wrong_ = true;
    Duration::rep value = 0;
    int digits = 0;
    for (; is_digit(peek()); ++digits) {
      const char c = next();
      if (digits < 6) value = value * 10 + (c - '0');
    }
    for (; digits < 6; ++digits) value *= 10;
    return Duration(value);
  }
  Duration offset() {
    const char sign = next();
    if (sign == 'Z' || sign == 'z') return Duration::zero();
    if (sign != '+' && sign != '-') wrong_ = true;
    const int hour = number(2);
    expect(":");
    const int minute = number(2);
    if (hour > 23 || minute > 59) wrong_ = true;
    const Duration east = hours(hour) + minutes(minute);
    return sign == '-' ? -east : east;
  }
  [[nodiscard]] bool is_done() const { return !wrong_ && rest_.empty(); }
  void refuse() { wrong_ = true; }

 private:
  std::string_view rest_;
  bool wrong_ = false;
};

std::optional<TimePoint> scan(std::string_view text) {
  Scanner in(text);
  const int year_number = in.number(4);
  in.expect("-");
  const int month_number = in.number(2);
  in.expect("-");
  const int day_number = in.number(2);
  in.expect("Tt ");
  const int hour = in.number(2);
  in.expect(":");
  const int minute = in.number(2);
  in.expect(":");
  const int second = in.number(2);
  const Duration fraction = in.fraction();
  const Duration east = in.offset();
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number)));
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) in.refuse();
  if (!in.is_done()) return std::nullopt;
  return TimePoint(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) + fraction -
         east;
}

}  // namespace

Result<TimePoint> parse_rfc3339(std::string_view field, std::string_view text) {
  if (const std::optional<TimePoint> time = scan(text)) return *time;
  return fail(
      ErrorCode::kInvalid,
      fmt::format("{} must be a time such as 2026-11-16T09:15:00Z, not {}", field, shown(text)));
}

std::string format_rfc3339(TimePoint time) {
  time = std::clamp(time, kFirst, kLast);
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss<Duration> clock(time - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  const Duration::rep micros = clock.subseconds().count();
  if (micros % 1000 != 0) {
    text += fmt::format(".{:06}", micros);
  } else if (micros != 0) {
    text += fmt::format(".{:03}", micros / 1000);
  }
  return text + "Z";
}

}  // namespace recourse
