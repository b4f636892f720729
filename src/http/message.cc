#include "http/message.h"

#include <algorithm>
#include <cstdlib>

namespace recourse::http {
namespace {

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool is_same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

std::string_view to_string(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kHead: return "HEAD";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kPatch: return "PATCH";
    case Method::kDelete: return "DELETE";
    case Method::kOptions: return "OPTIONS";
  }
  std::abort();
}

void Headers::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const auto& field) { return is_same_name(field.first, name); });
  add(std::string(name), std::move(value));
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (is_same_name(field, name)) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace recourse::http
