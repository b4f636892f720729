#include "message/key.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/stable_hash.h"

namespace recourse::message {
namespace {

// Of the first byte: clear in a message's key, set in the one under which it is marked as done.
constexpr std::uint8_t kDoneBit = 0x80;

void append_number(std::string& bytes, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
}

void append_hash(std::string& bytes, std::string_view of) {
  for (const std::uint8_t byte : stable_hash(of)) bytes += static_cast<char>(byte);
}

// With its length before it, so that no two lists of texts look alike.
void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, text.size());
  bytes += text;
}

void append_scope(std::string& bytes, const Scope& scope) {
  std::string all;
  for (const std::string_view text : {scope.source, scope.group, scope.topic}) {
    append_text(all, text);
  }
  const Hash128 hash = stable_hash(all);
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(hash[i] ^ hash[i + 8]);
  bytes[0] = static_cast<char>(static_cast<std::uint8_t>(bytes[0]) & ~kDoneBit);
}

// A number as it is printed; any other spelling would make two ids one.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A text that ends in a number.
struct Numbered {
  std::string_view before;
  std::uint64_t number = 0;
};

// Digits behind a letter are none: they belong to something random, such as the end of a ULID.
std::optional<Numbered> numbered(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  if (begin > 0 && is_letter(text[begin - 1])) return std::nullopt;
  const auto number = parse_number(text.substr(begin));
  if (!number) return std::nullopt;
  return Numbered{.before = text.substr(0, begin), .number = *number};
}

void append_lead(std::string& bytes, std::string_view id) {
  constexpr std::size_t kLead = 8;
  bytes += id.substr(0, kLead);
  bytes.append(kLead - std::min(kLead, id.size()), '\0');
}

void append_id(std::string& bytes, std::string_view id) {
  const std::optional<Numbered> last = numbered(id);
  if (!last) {
    append_lead(bytes, id);
    append_hash(bytes, id);
    return;
  }
  const bool has_dash = last->before.ends_with('-');
  const std::optional<Numbered> first =
      has_dash ? numbered(last->before.substr(0, last->before.size() - 1)) : std::nullopt;
  append_hash(bytes, first ? first->before : last->before);
  if (first) append_number(bytes, first->number);
  append_number(bytes, last->number);
}

}  // namespace

KeyMaker::KeyMaker(const Scope& scope) { append_scope(scope_, scope); }

store::MessageKey KeyMaker::key_of(std::string_view id) const {
  std::string bytes;
  bytes.reserve(store::kMessageKeyBytesMax);
  bytes += scope_;
  append_id(bytes, id);
  return store::MessageKey(std::move(bytes));
}

store::MessageKey key_of(const Scope& scope, std::string_view id) {
  return KeyMaker(scope).key_of(id);
}

store::MessageKey done_key_of(const store::MessageKey& key) {
  store::MessageKey done = key;
  if (!done.value.empty()) {
    done.value[0] = static_cast<char>(static_cast<std::uint8_t>(done.value[0]) | kDoneBit);
  }
  return done;
}

}  // namespace recourse::message
