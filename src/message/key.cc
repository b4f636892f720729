#include "message/key.h"

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

std::string scope_bytes(const Scope& scope) {
  std::string all;
  for (const std::string_view text : {scope.source, scope.group, scope.topic}) {
    append_text(all, text);
  }
  const Hash128 hash = stable_hash(all);
  std::string folded;
  for (std::size_t i = 0; i < 8; ++i) folded += static_cast<char>(hash[i] ^ hash[i + 8]);
  folded[0] = static_cast<char>(static_cast<std::uint8_t>(folded[0]) & ~kDoneBit);
  return folded;
}

// A number as it is printed; any other spelling would make two ids one.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct Position {
  std::string_view before;  // up to and with its last dash
  std::uint64_t partition = 0;
  std::uint64_t offset = 0;
};

std::optional<Position> position_of(std::string_view id) {
  const std::size_t last = id.rfind('-');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const std::size_t dash = id.rfind('-', last - 1);
  const std::size_t first = dash == std::string_view::npos ? 0 : dash + 1;
  const auto partition = parse_number(id.substr(first, last - first));
  const auto offset = parse_number(id.substr(last + 1));
  if (!partition || !offset) return std::nullopt;
  return Position{.before = id.substr(0, first), .partition = *partition, .offset = *offset};
}

}  // namespace

store::MessageKey key_of(const Scope& scope, std::string_view id) {
  std::string bytes = scope_bytes(scope);
  if (const auto position = position_of(id)) {
    append_hash(bytes, position->before);
    append_number(bytes, position->partition);
    append_number(bytes, position->offset);
  } else {
    append_hash(bytes, id);
  }
  return store::MessageKey(std::move(bytes));
}

store::MessageKey done_key_of(const store::MessageKey& key) {
  store::MessageKey done = key;
  if (!done.value.empty()) {
    done.value[0] = static_cast<char>(static_cast<std::uint8_t>(done.value[0]) | kDoneBit);
  }
  return done;
}

}  // namespace recourse::message
