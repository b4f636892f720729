#include "cli/url_text.h"

#include <fmt/format.h>

namespace recourse::cli {
namespace {

constexpr std::string_view kUnescaped =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (kUnescaped.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

std::string query_text(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += text.empty() ? '?' : '&';
    text += percent_encoded(name) + "=" + percent_encoded(value);
  }
  return text;
}

}  // namespace recourse::cli
