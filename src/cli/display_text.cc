#include "cli/display_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace recourse::cli {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode 15: blocks of combining marks, joiners and variation selectors.
constexpr std::array kNoCells{
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489},   Range{0x0591, 0x05BD},  Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0900, 0x0902},   Range{0x0E34, 0x0E3A},  Range{0x0E47, 0x0E4E},
    Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},   Range{0x200B, 0x200F},  Range{0x202A, 0x202E},
    Range{0x2060, 0x2064}, Range{0x20D0, 0x20FF},   Range{0xFE00, 0xFE0F},  Range{0xFE20, 0xFE2F},
    Range{0xFEFF, 0xFEFF}, Range{0x1F3FB, 0x1F3FF}, Range{0xE0100, 0xE01EF}};

// Unicode 15: what East Asian Width calls wide or full.
constexpr std::array kTwoCells{
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x23E9, 0x23EC},
    Range{0x25FD, 0x25FE},   Range{0x2614, 0x2615},   Range{0x2648, 0x2653},
    Range{0x26A1, 0x26A1},   Range{0x26D4, 0x26D4},   Range{0x2705, 0x2705},
    Range{0x270A, 0x270B},   Range{0x2728, 0x2728},   Range{0x274C, 0x274C},
    Range{0x2753, 0x2757},   Range{0x2795, 0x2797},   Range{0x2B1B, 0x2B1C},
    Range{0x2B50, 0x2B50},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x16FE0, 0x18CFF}, Range{0x1B000, 0x1B2FF}, Range{0x1F004, 0x1F004},
    Range{0x1F0CF, 0x1F0CF}, Range{0x1F18E, 0x1F18E}, Range{0x1F191, 0x1F19A},
    Range{0x1F200, 0x1F320}, Range{0x1F32D, 0x1F64F}, Range{0x1F680, 0x1F6FF},
    Range{0x1F7E0, 0x1F7EB}, Range{0x1F90C, 0x1F9FF}, Range{0x1FA70, 0x1FAFF},
    Range{0x20000, 0x3FFFD}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, std::uint32_t code) {
  const auto after = std::ranges::upper_bound(ranges, code, {}, &Range::first);
  return after != ranges.begin() && code <= std::prev(after)->last;
}

struct Character {
  std::string_view bytes;
  std::size_t cells;
};

// Of valid UTF-8.
Character first_of(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t code = size == 1 ? lead : lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    code = code << 6 | (static_cast<std::uint8_t>(text[i]) & 0x3FU);
  }
  const std::size_t cells = is_in(kNoCells, code) ? 0 : is_in(kTwoCells, code) ? 2 : 1;
  return {text.substr(0, size), cells};
}

std::size_t width_of_clean(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    width += character.cells;
    text.remove_prefix(character.bytes.size());
  }
  return width;
}

}  // namespace

std::size_t width_of(std::string_view text) { return width_of_clean(printable(text)); }

std::string cut_to(std::string_view text, std::size_t width) {
  constexpr std::string_view kEllipsis = "\u2026";
  std::string clean = printable(text);
  if (width_of_clean(clean) <= width) return clean;
  if (width == 0) return {};
  std::string result;
  std::size_t used = 1;  // the ellipsis
  for (std::string_view rest = clean; !rest.empty();) {
    const Character character = first_of(rest);
    if (used + character.cells > width) break;
    result += character.bytes;
    used += character.cells;
    rest.remove_prefix(character.bytes.size());
  }
  return result.append(kEllipsis);
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const auto byte = static_cast<std::uint8_t>(rest.front());
    const bool is_space = byte == '\n' || byte == '\r' || byte == '\t';
    // U+0080 to U+009F: some terminals obey these as well.
    const bool is_c1 = byte == 0xC2 && rest.size() > 1 &&
                       static_cast<std::uint8_t>(rest[1]) >= 0x80 &&
                       static_cast<std::uint8_t>(rest[1]) < 0xA0;
    if (is_space) {
      result += ' ';
    } else if (byte < 0x20 || byte == 0x7F || is_c1) {
      result += "\uFFFD";
    } else {
      result += rest.front();
    }
    rest.remove_prefix(is_c1 ? 2 : 1);
  }
  return clean_text(result, std::numeric_limits<std::size_t>::max());
}

std::string grouped(std::size_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool begins_group = i > 0 && (digits.size() - i) % 3 == 0;
    if (begins_group) result += ',';
    result += digits[i];
  }
  return result;
}

}  // namespace recourse::cli
