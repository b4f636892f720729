// The classes of characters that HTTP is made of (RFC 9110 and 9112), whatever the locale.
#pragma once

#include <string_view>

namespace recourse::http {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A letter of a method's or a header's name.
constexpr bool is_token(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return is_letter(c) || is_digit(c) || kMarks.find(c) != std::string_view::npos;
}

constexpr bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

// What a header's value may hold: old clients send bytes beyond ASCII.
constexpr bool is_field_text(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

// The value of a hexadecimal digit; negative where it is none.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace recourse::http
