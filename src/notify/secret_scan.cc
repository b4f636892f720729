#include "notify/secret_scan.h"

#include <algorithm>
#include <array>
#include <string>

namespace recourse::notify {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool ends_line(char c) { return c == '\n' || c == '\r'; }
constexpr char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::size_t skip(std::string_view text, std::size_t at, bool (*while_true)(char)) {
  while (at < text.size() && while_true(text[at])) ++at;
  return at;
}

// Without regard to capitals; the word is in small letters.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  const auto found =
      std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), word.begin(),
                  word.end(), [](char a, char b) { return lowered(a) == b; });
  return found == text.end() ? kNone : static_cast<std::size_t>(found - text.begin());
}

bool in_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool in_name(char c) { return in_word(c) || c == '-'; }
bool in_token(char c) {
  return in_name(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}
bool in_email_name(char c) { return in_name(c) || c == '.' || c == '+' || c == '%'; }

bool ends_url(char c) {
  return c == '"' || c == '\'' || c == '<' || c == '>' || static_cast<unsigned char>(c) <= ' ';
}

// What stands behind a name's `:` or `=`, in quotes, in escaped quotes (JSON within JSON) or bare.
Span value_at(std::string_view text, std::size_t at) {
  const std::size_t quote = skip(text, at, [](char c) { return c == '\\'; });
  if (quote < text.size() && (text[quote] == '"' || text[quote] == '\'')) {
    const std::string_view opening = text.substr(at, quote + 1 - at);
    const std::size_t begin = quote + 1;
    for (std::size_t end = begin; end < text.size(); ++end) {
      if (text.substr(end).starts_with(opening)) return {begin, end};
      if (opening.size() == 1 && text[end] == '\\') ++end;
    }
    return {begin, text.size()};
  }
  const std::size_t end = skip(text, at, [](char c) {
    return !is_blank(c) && !ends_line(c) && c != ',' && c != ';' && c != '&' && c != '"';
  });
  return {at, end};
}

// The beginning of the value that belongs to the name which ends at `at`; kNone where none does.
std::size_t value_behind(std::string_view text, std::size_t at) {
  at = skip(text, at, [](char c) { return c == '\\' || c == '"' || c == '\'' || c == ']'; });
  at = skip(text, at, is_blank);
  if (at == text.size() || (text[at] != ':' && text[at] != '=')) return kNone;
  // `=>` and `:=` too.
  at = skip(text, at, [](char c) { return c == ':' || c == '=' || c == '>'; });
  return skip(text, at, is_blank);
}

void add(std::vector<Span>& found, Span span) {
  if (span.begin < span.end) found.push_back(span);
}

// Words such as "authentication" stand behind "Basic" as well.
bool looks_like_a_token(std::string_view token) {
  return token.size() >= 8 && (token.size() >= 20 || !std::ranges::all_of(token, is_letter));
}

void find_tokens_behind(std::string_view text, std::string_view scheme, std::vector<Span>& found) {
  for (std::size_t at = find_word(text, scheme, 0); at != kNone;
       at = find_word(text, scheme, at + 1)) {
    if (at > 0 && in_name(text[at - 1])) continue;
    const std::size_t behind = at + scheme.size();
    const std::size_t begin = skip(text, behind, is_blank);
    if (begin == behind) continue;
    const std::size_t end = skip(text, begin, in_token);
    if (looks_like_a_token(text.substr(begin, end - begin))) add(found, {begin, end});
  }
}

bool passes_check_digit(std::string_view digits) {
  int sum = 0;
  bool doubled = false;
  for (std::size_t i = digits.size(); i-- > 0; doubled = !doubled) {
    const int digit = digits[i] - '0';
    const int counted = doubled ? 2 * digit : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 == 0;
}

// Where the longest card number ends that begins at `at`; 0 where none does. Digits may stand in
// groups, with one blank or dash between two of them.
std::size_t card_number_end(std::string_view text, std::size_t at) {
  constexpr std::size_t kShortest = 13;
  constexpr std::size_t kLongest = 19;
  std::string digits;
  std::size_t end = 0;
  for (; at < text.size() && digits.size() < kLongest; ++at) {
    if (!is_digit(text[at])) {
      const bool goes_on = !digits.empty() && at + 1 < text.size() && is_digit(text[at + 1]);
      if (!goes_on || (text[at] != ' ' && text[at] != '-')) break;
      continue;
    }
    digits += text[at];
    const bool stands_alone = at + 1 == text.size() || !in_word(text[at + 1]);
    if (stands_alone && digits.size() >= kShortest && passes_check_digit(digits)) end = at + 1;
  }
  return end;
}

}  // namespace

// Up to the last @ of what could be one URL: passwords hold slashes that should have been escaped.
// But a port and a path with an @ in it are not a password.
void find_url_passwords(std::string_view text, std::vector<Span>& found) {
  constexpr std::string_view kBehindScheme = "://";
  for (std::size_t at = text.find(kBehindScheme); at != kNone;
       at = text.find(kBehindScheme, at + 1)) {
    const std::size_t begin = at + kBehindScheme.size();
    std::size_t end = skip(text, begin, [](char c) { return !ends_url(c); });
    end = std::min(end, text.find(kBehindScheme, begin));
    const std::size_t sign = text.substr(0, end).rfind('@');
    if (sign == kNone || sign < begin) continue;
    const std::string_view before = text.substr(begin, sign - begin);
    const std::size_t colon = before.find(':');
    const std::size_t slash = before.find('/');
    if (colon == kNone || slash < colon) {
      // A token alone, as in https://TOKEN@host.
      if (slash == kNone && before.size() >= 16) add(found, {begin, sign});
      continue;
    }
    const std::size_t port_end = skip(text, begin + colon + 1, is_digit);
    if (port_end > begin + colon + 1 && port_end < sign && text[port_end] == '/') continue;
    add(found, {begin + colon + 1, sign});
  }
}

void find_authorizations(std::string_view text, std::vector<Span>& found) {
  constexpr std::string_view kHeader = "authorization";
  for (std::size_t at = find_word(text, kHeader, 0); at != kNone;
       at = find_word(text, kHeader, at + 1)) {
    const std::size_t begin = value_behind(text, at + kHeader.size());
    if (begin == kNone) continue;
    const Span quoted = value_at(text, begin);
    if (quoted.begin > begin) {
      add(found, quoted);
    } else {
      add(found, {begin, skip(text, begin, [](char c) { return !ends_line(c) && c != '"'; })});
    }
  }
  find_tokens_behind(text, "bearer", found);
  find_tokens_behind(text, "basic", found);
}

bool names_a_card(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += lowered(c);
  return lower.find("card") != std::string::npos;
}

bool names_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 10> kInside{
      "password",  "passwd",     "passphrase", "secret",    "apikey",
      "accesskey", "privatekey", "credential", "signature", "authorization"};
  // `tokens_used` and `pwd_policy` are no secrets.
  constexpr std::array<std::string_view, 5> kAtEnd{"token", "pwd", "cookie", "jwt", "sessionid"};
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != '.') plain += lowered(c);
  }
  return std::ranges::any_of(kInside,
                             [&](auto word) { return plain.find(word) != std::string::npos; }) ||
         std::ranges::any_of(kAtEnd, [&](auto word) { return plain.ends_with(word); });
}

void find_secret_values(std::string_view text, std::vector<Span>& found) {
  for (std::size_t at = 0; at < text.size();) {
    if (!in_name(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = skip(text, at, in_name);
    const std::size_t value =
        names_a_secret(text.substr(at, end - at)) ? value_behind(text, end) : kNone;
    if (value == kNone) {
      at = end;
      continue;
    }
    const Span span = value_at(text, value);
    add(found, span);
    at = std::max(span.end, end);
  }
}

void find_card_numbers(std::string_view text, std::vector<Span>& found) {
  constexpr std::size_t kShown = 4;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t word_end = skip(text, at, in_word);
    const std::size_t end = word_end == at ? 0 : card_number_end(text, at);
    if (end == 0) {
      at = std::max(word_end, at + 1);
      continue;
    }
    std::size_t shown = end;
    for (std::size_t left = kShown; left > 0; --shown) left -= is_digit(text[shown - 1]) ? 1 : 0;
    add(found, {at, shown});
    at = end;
  }
}

void find_email_names(std::string_view text, std::vector<Span>& found) {
  for (std::size_t at = text.find('@'); at != kNone; at = text.find('@', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && in_email_name(text[begin - 1])) --begin;
    const std::size_t end = skip(
        text, at + 1, [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; });
    const std::string_view host = text.substr(at + 1, end - at - 1);
    if (host.find('.') != kNone) add(found, {begin, at});
  }
}

}  // namespace recourse::notify
