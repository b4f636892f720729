#include "base/zone_rule.h"

#include <charconv>

namespace recourse {

using std::chrono::days;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

class ZoneRule::Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool name() {
    const bool quoted = take('<');
    std::size_t size = 0;
    while (size < rest_.size() && in_name(rest_[size], quoted)) ++size;
    rest_.remove_prefix(size);
    return size > 0 && (!quoted || take('>'));
  }
  std::optional<int> number(int low, int high) {
    int value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (read.ec != std::errc() || value < low || value > high) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
    return value;
  }
  // [+-]hh[:mm[:ss]]
  std::optional<seconds> time() {
    const bool negative = take('-');
    if (!negative) take('+');
    const auto hours = number(0, 167);
    if (!hours) return std::nullopt;
    seconds sum = std::chrono::hours(*hours);
    for (const seconds unit : {seconds(60), seconds(1)}) {
      if (!take(':')) break;
      const auto part = number(0, 59);
      if (!part) return std::nullopt;
      sum += *part * unit;
    }
    return negative ? -sum : sum;
  }
  std::optional<Change> change() {
    Change change;
    if (take('M')) {
      change.type = DayType::kMonthWeek;
      const auto month = number(1, 12);
      if (!month || !take('.')) return std::nullopt;
      const auto week = number(1, 5);
      if (!week || !take('.')) return std::nullopt;
      change.month = *month;
      change.week = *week;
    } else {
      change.type = take('J') ? DayType::kJulian : DayType::kZeroBased;
    }
    const auto day = number(0, change.type == DayType::kMonthWeek ? 6 : 365);
    if (!day) return std::nullopt;
    change.day = *day;
    if (!take('/')) return change;
    const auto at = time();
    if (!at) return std::nullopt;
    change.time = *at;
    return change;
  }

 private:
  static bool in_name(char c, bool quoted) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-'));
  }

  std::string_view rest_;
};

// POSIX counts hours to the west.
std::optional<ZoneRule> ZoneRule::parse(std::string_view text) {
  Reader reader(text);
  ZoneRule rule;
  if (!reader.name()) return std::nullopt;
  const auto standard = reader.time();
  if (!standard) return std::nullopt;
  rule.standard_ = -*standard;
  if (reader.done()) return rule;
  if (!reader.name()) return std::nullopt;
  rule.has_summer_ = true;
  rule.summer_ = rule.standard_ + std::chrono::hours(1);
  if (!reader.take(',')) {
    const auto summer = reader.time();
    if (!summer || !reader.take(',')) return std::nullopt;
    rule.summer_ = -*summer;
  }
  const auto begins = reader.change();
  if (!begins || !reader.take(',')) return std::nullopt;
  const auto ends = reader.change();
  if (!ends || !reader.done()) return std::nullopt;
  rule.begins_ = *begins;
  rule.ends_ = *ends;
  return rule;
}

sys_seconds ZoneRule::moment_of(const Change& change, std::chrono::year year, seconds offset) {
  using std::chrono::January;
  sys_days day;
  switch (change.type) {
    case DayType::kJulian:  // from 1, and the 29th of February is never counted
      day = sys_days(year / January / 1) + days(change.day - 1);
      if (year.is_leap() && change.day >= 60) day += days(1);
      break;
    case DayType::kZeroBased: day = sys_days(year / January / 1) + days(change.day); break;
    case DayType::kMonthWeek: {
      const std::chrono::month month(static_cast<unsigned>(change.month));
      const std::chrono::weekday weekday(static_cast<unsigned>(change.day));
      day = change.week == 5 ? sys_days(year / month / weekday[std::chrono::last])
                             : sys_days(year / month / weekday[static_cast<unsigned>(change.week)]);
      break;
    }
  }
  return day + change.time - offset;
}

seconds ZoneRule::offset_at(sys_seconds moment) const {
  if (!has_summer_) return standard_;
  const std::chrono::year_month_day there(std::chrono::floor<days>(moment + standard_));
  const sys_seconds begins = moment_of(begins_, there.year(), standard_);
  const sys_seconds ends = moment_of(ends_, there.year(), summer_);
  // In the south the year begins and ends in summer.
  const bool summer =
      begins < ends ? moment >= begins && moment < ends : moment >= begins || moment < ends;
  return summer ? summer_ : standard_;
}

}  // namespace recourse
