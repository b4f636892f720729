// Text from outside, made fit to be stored: one bad byte must not fail a batch of five hundred.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace recourse {

// Errors are kept to this many characters wherever they are stored or sent.
inline constexpr std::size_t kErrorCharactersMax = 4'000;

// Valid UTF-8 without NUL: every byte that is not part of a character, and every NUL, becomes
// U+FFFD. Cut on a character, never inside one.
std::string clean_text(std::string_view text, std::size_t characters_max);

// The same on one line: line breaks and other control characters become spaces, several become one,
// and none stands at either end.
std::string one_line(std::string_view text, std::size_t characters_max);

// Valid UTF-8 without control characters: what a key or a name must be, because cleaning two of
// them could make them one.
bool is_plain_text(std::string_view text);

// 1 task, 2 tasks, 0 tasks.
template <std::integral Number>
std::string counted(Number number, std::string_view noun) {
  return std::to_string(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

// What somebody gave, fit for an error message: in quotes, short, and without control characters.
std::string shown(std::string_view text);

}  // namespace recourse
