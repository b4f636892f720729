#include "message/message.h"

#include <fmt/format.h>

#include "base/stable_hash.h"

namespace recourse::message {

std::string header_of(const Message& message, std::string_view name) {
  for (const Header& header : message.headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

std::string body_hash_id(std::string_view body) {
  std::string id = "body-";
  for (const std::uint8_t byte : stable_hash(body)) id += fmt::format("{:02x}", byte);
  return id;
}

}  // namespace recourse::message
