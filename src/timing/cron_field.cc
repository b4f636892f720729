#include "timing/cron_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "base/text.h"

namespace recourse::timing {
namespace {

using namespace std::string_view_literals;

constexpr std::array kMonths{"jan"sv, "feb"sv, "mar"sv, "apr"sv, "may"sv, "jun"sv,
                             "jul"sv, "aug"sv, "sep"sv, "oct"sv, "nov"sv, "dec"sv};
constexpr std::array kWeekDays{"sun"sv, "mon"sv, "tue"sv, "wed"sv, "thu"sv, "fri"sv, "sat"sv};

constexpr int kSunday = 0;
constexpr int kSundayToo = 7;

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_same_word(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

std::string allowed(const CronField& field) {
  std::string text = fmt::format("{} to {}", field.low, field.high);
  if (!field.names.empty()) {
    text += fmt::format(" or {} to {}", field.names.front(), field.names.back());
  }
  return text;
}

Unexpected refuse(const CronField& field, std::string_view part, std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("{} {}: {}", field.name, shown(part), why));
}

std::optional<int> parse_number(std::string_view text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number > 1'000) return std::nullopt;
  return static_cast<int>(number);
}

Result<int> parse_value(const CronField& field, std::string_view part, std::string_view text) {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (is_same_word(field.names[i], text)) return field.low + static_cast<int>(i);
  }
  const std::optional<int> number = parse_number(text);
  if (number && *number >= field.low && *number <= field.high) return *number;
  return refuse(field, part,
                fmt::format("{} is not allowed there, {} is", shown(text), allowed(field)));
}

struct Range {
  int low = 0;
  int high = 0;
  bool is_one = false;
};

Result<Range> parse_range(const CronField& field, std::string_view part, std::string_view text) {
  if (text == "*") return Range{.low = field.low, .high = field.high};
  const std::size_t dash = text.find('-');
  const Result<int> low = parse_value(field, part, text.substr(0, dash));
  if (!low) return fail(low.error());
  if (dash == std::string_view::npos) return Range{.low = *low, .high = *low, .is_one = true};
  const Result<int> high = parse_value(field, part, text.substr(dash + 1));
  if (!high) return fail(high.error());
  // The week ends on a sunday as well as it begins on one: sat-sun.
  const bool ends_on_sunday = field.high == kSundayToo && *high == kSunday && *low != kSunday;
  const Range range{.low = *low, .high = ends_on_sunday ? kSundayToo : *high};
  if (range.low > range.high) {
    return refuse(field, part,
                  fmt::format("the range runs backwards; write {}-{},{}-{}", *low, field.high,
                              field.low, *high));
  }
  return range;
}

Result<int> parse_step(const CronField& field, std::string_view part, std::string_view text,
                       const Range& range) {
  // Some crons run it to the end of the field, others once: whoever means something should say it.
  if (range.is_one) {
    return refuse(field, part,
                  fmt::format("a step needs * or a range before it; write {}-{}/{}", range.low,
                              field.high, text));
  }
  const std::optional<int> step = parse_number(text);
  if (!step || *step < 1 || *step > field.high) {
    return refuse(
        field, part,
        fmt::format("the step must be between 1 and {}, not {}", field.high, shown(text)));
  }
  return *step;
}

Result<std::uint64_t> parse_part(const CronField& field, std::string_view part) {
  if (part.empty()) return refuse(field, part, "a value is missing; allowed is " + allowed(field));
  const std::size_t slash = part.find('/');
  const Result<Range> range = parse_range(field, part, part.substr(0, slash));
  if (!range) return fail(range.error());
  int step = 1;
  if (slash != std::string_view::npos) {
    const Result<int> given = parse_step(field, part, part.substr(slash + 1), *range);
    if (!given) return fail(given.error());
    step = *given;
  }
  std::uint64_t bits = 0;
  for (int value = range->low; value <= range->high; value += step)
    bits |= std::uint64_t{1} << value;
  return bits;
}

}  // namespace

constinit const std::array<CronField, 5> kCronFields{
    CronField{.name = "minute", .low = 0, .high = 59, .names = {}},
    CronField{.name = "hour", .low = 0, .high = 23, .names = {}},
    CronField{.name = "day-of-month", .low = 1, .high = 31, .names = {}},
    CronField{.name = "month", .low = 1, .high = 12, .names = kMonths},
    CronField{.name = "day-of-week", .low = kSunday, .high = kSundayToo, .names = kWeekDays}};

Result<std::uint64_t> parse_cron_field(const CronField& field, std::string_view text) {
  std::uint64_t bits = 0;
  while (true) {
    const std::size_t comma = text.find(',');
    const Result<std::uint64_t> part = parse_part(field, text.substr(0, comma));
    if (!part) return fail(part.error());
    bits |= *part;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (field.high == kSundayToo) {
    constexpr std::uint64_t kSundays = 1U << kSunday | 1U << kSundayToo;
    if ((bits & kSundays) != 0) bits |= kSundays;
  }
  return bits;
}

}  // namespace recourse::timing
