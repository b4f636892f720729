#include "api/fields.h"

#include <fmt/format.h>

#include <cmath>

#include "base/duration_text.h"
#include "base/rfc3339.h"
#include "base/text.h"

namespace recourse::api {
namespace {

std::string_view type_of(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: return "a number";
    case boost::json::kind::string: return "a text";
    case boost::json::kind::array: return "a list";
    case boost::json::kind::object: return "an object";
  }
  std::abort();
}

std::string escaped(std::string_view name) {
  std::string pointer;
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

}  // namespace

Result<boost::json::value> parse_json(std::string_view text) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = kJsonDepthMax;
  boost::json::stream_parser parser({}, options);
  const std::size_t read = parser.write_some(text.data(), text.size(), error);
  const bool has_more = !error && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos;
  if (!error) parser.finish(error);
  if (error || has_more) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the body is not JSON: {} at byte {}",
                            has_more ? "something follows after its end" : error.message(), read));
  }
  return parser.release();
}

const boost::json::value* Fields::find(std::string_view name) {
  known_.emplace(name);
  const boost::json::value* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool Fields::has(std::string_view name) {
  known_.emplace(name);
  return object_.contains(name);
}

std::string Fields::pointer_to(std::string_view name) const {
  return fmt::format("{}/{}", pointer_, escaped(name));
}

void Fields::refuse(std::string_view name, std::string detail) {
  errors_.push_back({pointer_to(name), std::move(detail)});
}

std::optional<std::string> Fields::text(std::string_view name) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->if_string()) return std::string(*text);
  refuse(name, fmt::format("must be a text, not {}", type_of(*value)));
  return std::nullopt;
}

std::string Fields::required_text(std::string_view name) {
  if (find(name) == nullptr) {
    refuse(name, "is missing");
    return {};
  }
  std::optional<std::string> given = text(name);
  if (given && given->empty()) refuse(name, "must not be empty");
  return std::move(given).value_or("");
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t low,
                                            std::int64_t high) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = value->if_int64(); number && *number >= low && *number <= high) {
    return *number;
  }
  refuse(name, fmt::format("must be a whole number from {} to {}, not {}", low, high,
                           value->is_number() ? boost::json::serialize(*value)
                                              : std::string(type_of(*value))));
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = value->if_bool()) return *flag;
  refuse(name, fmt::format("must be true or false, not {}", type_of(*value)));
  return std::nullopt;
}

std::optional<Duration> Fields::duration(std::string_view name, Duration most, Duration least) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  std::optional<Duration> duration;
  if (const auto* text = value->if_string()) {
    const Result<Duration> parsed = parse_duration("it", *text);
    if (parsed) duration = *parsed;
  } else if (value->is_number()) {
    const double seconds = value->to_number<double>();
    if (seconds >= 0 && seconds <= 1e9) duration = Duration(std::llround(seconds * 1e6));
  }
  if (duration && *duration >= least && *duration <= most) return duration;
  const std::string from =
      least > Duration::zero() ? fmt::format("from {} ", format_duration(least)) : std::string();
  refuse(name, fmt::format("must be a duration such as \"30s\", or a number of seconds, {}up to {}",
                           from, format_duration(most)));
  return std::nullopt;
}

std::optional<TimePoint> Fields::time(std::string_view name) {
  const std::optional<std::string> given = text(name);
  if (!given) return std::nullopt;
  const Result<TimePoint> parsed = parse_rfc3339("it", *given);
  if (parsed) return *parsed;
  refuse(name, "must be a time such as 2026-11-16T09:15:00Z, not " + shown(*given));
  return std::nullopt;
}

std::optional<std::map<std::string, std::string>> Fields::texts_by_name(std::string_view name) {
  const boost::json::object* object_of = object(name);
  if (object_of == nullptr) return std::nullopt;
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : *object_of) {
    if (const auto* text = value.if_string()) {
      texts.emplace(key, *text);
    } else {
      errors_.push_back({pointer_to(name) + "/" + escaped(key),
                         fmt::format("must be a text, not {}", type_of(value))});
    }
  }
  return texts;
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view name, std::size_t most) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->if_string()) return std::vector{std::string(*text)};
  const boost::json::array* list = array(name, most);
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const boost::json::value& item : *list) {
    if (const auto* text = item.if_string()) {
      texts.emplace_back(*text);
    } else {
      refuse(name, fmt::format("must be a list of texts; it has {}", type_of(item)));
      return std::nullopt;
    }
  }
  return texts;
}

const boost::json::object* Fields::object(std::string_view name) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* object = value->if_object()) return object;
  refuse(name, fmt::format("must be an object, not {}", type_of(*value)));
  return nullptr;
}

const boost::json::array* Fields::array(std::string_view name, std::size_t most) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return nullptr;
  const auto* list = value->if_array();
  if (list == nullptr) {
    refuse(name, fmt::format("must be a list, not {}", type_of(*value)));
  } else if (list->size() > most) {
    refuse(name, fmt::format("has {} items; at most {} are allowed", list->size(), most));
    list = nullptr;
  }
  return list;
}

void Fields::refuse_others() {
  for (const auto& [key, value] : object_) {
    if (known_.contains(key)) continue;
    refuse(key, fmt::format("is not known here; there are: {}", fmt::join(known_, ", ")));
  }
}

}  // namespace recourse::api
