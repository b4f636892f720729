// Any expression, held against somebody who looks at every minute, or at every day for a century.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "timing/cron.h"
#include "timing/recurrence.h"

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::floor;

// The allowed values, and how they are written.
struct Field {
  std::set<int> values;
  std::string text;
};

rc::Gen<Field> list_field(int low, int high) {
  return rc::gen::map(
      rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(low, high + 1))),
      [](const std::vector<int>& values) {
        return Field{{values.begin(), values.end()}, fmt::format("{}", fmt::join(values, ","))};
      });
}

Field stepped(int from, int to, int step, std::string text) {
  Field field{.values = {}, .text = std::move(text)};
  for (int value = from; value <= to; value += step) field.values.insert(value);
  return field;
}

rc::Gen<Field> star_field(int low, int high) {
  return rc::gen::map(rc::gen::inRange(1, high + 1), [=](int step) {
    return stepped(low, high, step, step == 1 ? "*" : fmt::format("*/{}", step));
  });
}

rc::Gen<Field> range_field(int low, int high) {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(low, high + 1), rc::gen::inRange(low, high + 1),
                     rc::gen::inRange(1, high + 1)),
      [](const std::tuple<int, int, int>& drawn) {
        const auto [one, other, step] = drawn;
        const int from = std::min(one, other);
        const int to = std::max(one, other);
        return stepped(from, to, step, fmt::format("{}-{}/{}", from, to, step));
      });
}

rc::Gen<Field> any_field(int low, int high) {
  return rc::gen::weightedOneOf<Field>({{3, rc::gen::just(stepped(low, high, 1, "*"))},
                                        {1, star_field(low, high)},
                                        {2, range_field(low, high)},
                                        {3, list_field(low, high)}});
}

struct Expression {
  Field minute, hour, month_day, month, week_day;

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {} {} {} {}", minute.text, hour.text, month_day.text, month.text,
                       week_day.text);
  }
  [[nodiscard]] bool allows_day(TimePoint moment) const {
    const std::chrono::year_month_day date(floor<days>(moment));
    const auto of_week = static_cast<int>(std::chrono::weekday(floor<days>(moment)).c_encoding());
    const bool by_month = month_day.values.contains(static_cast<int>(unsigned{date.day()}));
    const bool by_week =
        week_day.values.contains(of_week) || (of_week == 0 && week_day.values.contains(7));
    const bool starred = month_day.text[0] == '*' || week_day.text[0] == '*';
    return month.values.contains(static_cast<int>(unsigned{date.month()})) &&
           (starred ? by_month && by_week : by_month || by_week);
  }
  [[nodiscard]] bool allows(TimePoint moment) const {
    const std::chrono::hh_mm_ss time(moment - floor<days>(moment));
    return allows_day(moment) && minute.values.contains(static_cast<int>(time.minutes().count())) &&
           hour.values.contains(static_cast<int>(time.hours().count()));
  }
};

rc::Gen<Expression> any_expression() {
  return rc::gen::construct<Expression>(any_field(0, 59), any_field(0, 23), any_field(1, 31),
                                        any_field(1, 12), any_field(0, 7));
}

rc::Gen<TimePoint> any_moment() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 200LL * 365 * 86'400'000'000),
                      [](std::int64_t since) { return TimePoint(Duration(since)); });
}

RC_GTEST_PROP(CronProperty, AgreesWithWhoeverLooksAtEveryMinute, ()) {
  const Expression expression = *any_expression();
  const TimePoint after = *any_moment();
  const Cron cron = Cron::parse(expression.text()).value();

  const TimePoint next = cron.next_after(after);

  TimePoint minute = floor<std::chrono::minutes>(after) + 1min;
  const TimePoint end = minute + days{40};
  while (minute < end && !expression.allows(minute)) minute += 1min;
  if (minute < end) {
    RC_ASSERT(next == minute);
  } else {
    RC_ASSERT(next >= end);
  }
}

// Where the day is rare: the time of the day has its own property above.
RC_GTEST_PROP(CronProperty, AgreesWithWhoeverLooksAtEveryDayOfACentury, ()) {
  Expression expression = *any_expression();
  expression.month_day = *rc::gen::element(Field{{29}, "29"}, Field{{30}, "30"}, Field{{31}, "31"});
  expression.month = *list_field(1, 12);
  expression.week_day = *star_field(0, 7);
  const TimePoint after = *any_moment();
  const Cron cron = Cron::parse(expression.text()).value();

  const TimePoint next = cron.next_after(after);

  TimePoint day = floor<days>(after);
  if (next != kNever && floor<days>(next) == day) {
    RC_ASSERT(expression.allows(next));
    return;
  }
  const TimePoint end = day + days{36'525};
  for (day += days{1}; day < end && !expression.allows_day(day);) day += days{1};
  if (day < end) {
    RC_ASSERT(floor<days>(next) == floor<days>(day));
  } else {
    RC_ASSERT(next >= end);
  }
}

RC_GTEST_PROP(RecurrenceProperty, TheLastWithinAWindowHasNoOtherAfterIt, ()) {
  const bool is_interval = *rc::gen::arbitrary<bool>();
  const std::string text = is_interval ? fmt::format("every {}s", *rc::gen::inRange(1, 100'000))
                                       : Expression(*any_expression()).text();
  const Recurrence when = Recurrence::parse(text).value();
  const TimePoint after = *any_moment();
  const TimePoint until = after + Duration(*rc::gen::inRange<std::int64_t>(0, 86'400'000'000 * 60));

  const std::optional<TimePoint> last = when.last_within(after, until);

  RC_ASSERT(last.has_value() == (when.next_after(after) <= until));
  if (!last) return;
  RC_ASSERT(*last > after && *last <= until);
  RC_ASSERT(when.next_after(*last - 1us) == *last);
  RC_ASSERT(when.next_after(*last) > until);
}

}  // namespace
}  // namespace recourse::timing
