#include "notify/escape.h"

#include <fmt/format.h>

namespace recourse::notify {
namespace {

template <class Replace>
std::string replaced(std::string_view text, const Replace& replacement_of) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    const std::string_view replacement = replacement_of(c);
    if (replacement.empty()) {
      result += c;
    } else {
      result += replacement;
    }
  }
  return result;
}

}  // namespace

std::string escape_html(std::string_view text) {
  return replaced(text, [](char c) -> std::string_view {
    switch (c) {
      case '&': return "&amp;";
      case '<': return "&lt;";
      case '>': return "&gt;";
      case '"': return "&quot;";
      case '\'': return "&#39;";
      default: return {};
    }
  });
}

std::string escape_slack(std::string_view text) {
  return replaced(text, [](char c) -> std::string_view {
    switch (c) {
      case '&': return "&amp;";
      case '<': return "&lt;";
      case '>': return "&gt;";
      default: return {};
    }
  });
}

std::string escape_chat_markdown(std::string_view text) {
  return replaced(text, [](char c) -> std::string_view {
    switch (c) {
      case '<': return "\uFF1C";
      case '>': return "\uFF1E";
      case '[': return "\uFF3B";
      case ']': return "\uFF3D";
      case '*': return "\uFF0A";
      case '#': return "\uFF03";
      case '`': return "\uFF40";
      case '@': return "\uFF20";
      case '\\': return "\uFF3C";
      default: return {};
    }
  });
}

std::string escape_query(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace recourse::notify
