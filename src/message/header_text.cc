#include "message/header_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "task/record.h"

namespace recourse::message {
namespace {

constexpr std::string_view kNameCharacters =
    "!$&'+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

template <class Stays>
std::string encoded(std::string_view bytes, Stays stays) {
  std::string text;
  for (const char byte : bytes) {
    if (stays(byte)) {
      text += byte;
    } else {
      text += fmt::format("%{:02X}", static_cast<std::uint8_t>(byte));
    }
  }
  return text;
}

}  // namespace

std::string percent_encoded(std::string_view bytes) {
  return encoded(bytes, [](char c) { return c > ' ' && c < 0x7F && c != '%'; });
}

std::string percent_encoded_name(std::string_view bytes) {
  return encoded(bytes, [](char c) { return kNameCharacters.find(c) != std::string_view::npos; });
}

std::string percent_decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint8_t byte = 0;
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
            text.data() + i + 3;
    bytes += is_escape ? static_cast<char>(byte) : text[i];
    if (is_escape) i += 2;
  }
  return bytes;
}

bool HeaderWriter::put(std::string name, std::string_view value) {
  const bool is_plain = is_plain_text(value);
  std::string text = is_plain ? std::string(value) : percent_encoded(value);
  if (!is_plain) name += '*';
  const std::size_t bytes = name.size() + text.size();
  if (headers_.size() >= task::kHeaderCountMax || bytes_ + bytes > task::kHeaderBytesMax) {
    return false;
  }
  bytes_ += bytes;
  headers_.emplace(std::move(name), std::move(text));
  return true;
}

std::optional<std::string> read_header(const std::map<std::string, std::string>& headers,
                                       const std::string& name) {
  if (const auto plain = headers.find(name); plain != headers.end()) return plain->second;
  if (const auto coded = headers.find(name + '*'); coded != headers.end()) {
    return percent_decoded(coded->second);
  }
  return std::nullopt;
}

}  // namespace recourse::message
