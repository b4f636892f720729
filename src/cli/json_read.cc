#include "cli/json_read.h"

#include "base/rfc3339.h"
#include "cli/display_text.h"

namespace recourse::cli {

using boost::json::object;

std::string text_of(const object& from, std::string_view name) {
  const auto* found = from.if_contains(name);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string() : printable(*text);
}

std::int64_t number_of(const object& from, std::string_view name) {
  return static_cast<std::int64_t>(fraction_of(from, name));
}

double fraction_of(const object& from, std::string_view name) {
  const auto* found = from.if_contains(name);
  if (found == nullptr || !found->is_number()) return 0;
  boost::json::error_code error;
  const auto number = found->to_number<double>(error);
  return error ? 0 : number;
}

bool flag_of(const object& from, std::string_view name) {
  const auto* found = from.if_contains(name);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::optional<TimePoint> time_of(const object& from, std::string_view name) {
  const Result<TimePoint> time = parse_rfc3339("it", text_of(from, name));
  if (!time) return std::nullopt;
  return *time;
}

const object& object_of(const object& from, std::string_view name) {
  static const object nothing;
  const auto* found = from.if_contains(name);
  const auto* inner = found == nullptr ? nullptr : found->if_object();
  return inner == nullptr ? nothing : *inner;
}

const boost::json::array& array_of(const object& from, std::string_view name) {
  static const boost::json::array nothing;
  const auto* found = from.if_contains(name);
  const auto* inner = found == nullptr ? nullptr : found->if_array();
  return inner == nullptr ? nothing : *inner;
}

std::string error_text(const object& error) {
  const std::string code = text_of(error, "code");
  const std::string message = text_of(error, "message");
  if (code.empty() || message.empty()) return code + message;
  return code + ": " + message;
}

}  // namespace recourse::cli
