#include "app/config/size_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace recourse::app {
namespace {

struct Unit {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array kUnits{Unit{"GiB", std::size_t{1} << 30}, Unit{"MiB", std::size_t{1} << 20},
                            Unit{"KiB", std::size_t{1} << 10}, Unit{"B", 1}};

}  // namespace

Result<std::size_t> parse_size(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return fail(ErrorCode::kInvalid, "not a number of bytes");
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.empty()) return number;
  for (const Unit& known : kUnits) {
    std::size_t bytes = 0;
    if (unit != known.name) continue;
    if (__builtin_mul_overflow(number, known.bytes, &bytes)) break;
    return bytes;
  }
  return fail(ErrorCode::kInvalid, "not a number of bytes");
}

std::string format_size(std::size_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
    }
  }
  return "0B";
}

}  // namespace recourse::app
