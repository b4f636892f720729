#include "base/text.h"

#include <algorithm>
#include <cstdint>

namespace recourse {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What may follow a lead byte (Unicode 15, table 3-7): the second byte's range excludes spellings
// that are too long, surrogates, and what lies beyond the last code point.
struct Lead {
  std::size_t size;
  std::uint8_t second_low;
  std::uint8_t second_high;
};

constexpr Lead lead_of(std::uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// Bytes of the character that `text` starts with; 0 where it starts with none.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text[0]);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const Lead lead = lead_of(first);
  if (lead.size == 0 || text.size() < lead.size) return 0;
  const auto second = static_cast<std::uint8_t>(text[1]);
  if (second < lead.second_low || second > lead.second_high) return 0;
  for (std::size_t i = 2; i < lead.size; ++i) {
    if ((static_cast<std::uint8_t>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return lead.size;
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t characters_max) {
  std::string clean;
  for (std::size_t characters = 0; !text.empty() && characters < characters_max; ++characters) {
    const std::size_t size = character_size(text);
    clean += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return clean;
}

std::string one_line(std::string_view text, std::size_t characters_max) {
  std::string line;
  for (const char c : text) {
    const bool is_blank = static_cast<std::uint8_t>(c) <= 0x20 || c == 0x7F;
    if (!is_blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  std::string clean = clean_text(line, characters_max);
  if (clean.ends_with(' ')) clean.pop_back();
  return clean;
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const auto first = static_cast<std::uint8_t>(text[0]);
    if (size == 0 || first < 0x20 || first == 0x7F) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kCharactersMax = 40;
  // Four bytes each at the most, so that a long text is not cleaned whole to be cut.
  std::string plain = clean_text(text.substr(0, 4 * kCharactersMax), kCharactersMax);
  const bool cut = plain.size() < text.size() && clean_text(text, kCharactersMax + 1) != plain;
  std::ranges::replace_if(
      plain, [](char c) { return static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F; }, '?');
  return '"' + plain + (cut ? "...\"" : "\"");
}

}  // namespace recourse
