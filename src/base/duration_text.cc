#include "base/duration_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/text.h"

namespace recourse {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t microseconds;
};

constexpr std::array kUnits{
    Unit{"d", 86'400'000'000}, Unit{"h", 3'600'000'000}, Unit{"m", 60'000'000},
    Unit{"s", 1'000'000},      Unit{"ms", 1'000},        Unit{"us", 1},
};

// The longest name that fits, so that "ms" is not read as minutes.
std::optional<std::size_t> unit_at_start(std::string_view text) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (!text.starts_with(kUnits[i].name)) continue;
    if (!best || kUnits[i].name.size() > kUnits[*best].name.size()) best = i;
  }
  return best;
}

Unexpected refuse_duration(std::string_view field, std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalid,
              fmt::format("{} must be a duration such as 500ms, 30s, 5m or 1h30m; {} {}", field,
                          shown(text), why));
}

}  // namespace

Result<Duration> parse_duration(std::string_view field, std::string_view text) {
  if (text.empty()) return refuse_duration(field, text, "is empty");
  if (text == "0") return Duration::zero();
  if (text.starts_with('-')) return refuse_duration(field, text, "is negative");

  std::int64_t total = 0;
  std::size_t next_unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::uint64_t number = 0;  // unsigned: a minus in the middle is no number
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc::result_out_of_range) return refuse_duration(field, text, "is too long");
    if (error != std::errc{})
      return refuse_duration(field, text, "has no number where one belongs");
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));

    const std::optional<std::size_t> unit = unit_at_start(rest);
    if (!unit)
      return refuse_duration(field, text, "has a number without a unit (us, ms, s, m, h, d)");
    if (*unit < next_unit) return refuse_duration(field, text, "has its units out of order");
    next_unit = *unit + 1;
    rest.remove_prefix(kUnits[*unit].name.size());

    std::int64_t part = 0;
    if (__builtin_mul_overflow(number, kUnits[*unit].microseconds, &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return refuse_duration(field, text, "is too long");
    }
  }
  return Duration(total);
}

std::string format_duration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  const bool negative = duration < Duration::zero();
  // Unsigned, because the most negative duration has no positive counterpart.
  std::uint64_t rest = negative ? 0 - static_cast<std::uint64_t>(duration.count())
                                : static_cast<std::uint64_t>(duration.count());
  std::string text = negative ? "-" : "";
  for (const Unit& unit : kUnits) {
    const auto size = static_cast<std::uint64_t>(unit.microseconds);
    if (rest < size) continue;
    text += fmt::format("{}{}", rest / size, unit.name);
    rest %= size;
  }
  return text;
}

}  // namespace recourse
