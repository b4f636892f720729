#include "api/task_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/rfc3339.h"
#include "base/text.h"
#include "store/limits.h"

namespace recourse::api {
namespace {

constexpr std::string_view kKeyPrefix = "key.";
constexpr std::size_t kPageRows = 50;
constexpr std::size_t kListMax = 100;

std::optional<task::State> state_of(std::string_view name) {
  for (const task::State state : task::kAllStates) {
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

std::string state_names() {
  std::vector<std::string_view> names;
  for (const task::State state : task::kAllStates) names.push_back(to_string(state));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string unknown_state(std::string_view name) {
  return fmt::format("{} is no state; there are: {}", shown(name), state_names());
}

std::vector<std::string> values_of(const http::Request& request, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [key, value] : request.query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

constexpr std::string_view kOtherTenant = "is not the one of your token; leave it out";
constexpr std::string_view kNotPlain = "must be valid UTF-8 without control characters";

// A caller of one tenant means that one. Who asks for another is told, instead of being shown, or
// changing, what they did not ask for. False: they did.
bool limit_to(const Identity& caller, store::Filter& filter) {
  if (!caller.tenant) return true;
  const bool is_own = !filter.tenant || *filter.tenant == *caller.tenant;
  filter.tenant = caller.tenant;
  return is_own;
}

void read_search_key(const http::Request& request, store::Filter& filter,
                     std::vector<FieldError>& errors) {
  for (const auto& [key, value] : request.query) {
    if (!std::string_view(key).starts_with(kKeyPrefix)) continue;
    if (filter.search_key) {
      errors.push_back({"?" + key, "is one too many: one search key at a time"});
    }
    filter.search_key = {key.substr(kKeyPrefix.size()), value};
  }
}

std::optional<std::string> plain_text(Fields& fields, std::string_view name) {
  std::optional<std::string> text = fields.text(name);
  if (text && !is_plain_text(*text)) fields.refuse(name, std::string(kNotPlain));
  return text;
}

}  // namespace

store::Filter read_filter(const http::Request& request, const Identity& caller,
                          std::vector<FieldError>& errors) {
  store::Filter filter;
  for (const std::string& name : values_of(request, "state")) {
    if (const auto state = state_of(name)) {
      filter.states.push_back(*state);
    } else {
      errors.push_back({"?state", unknown_state(name)});
    }
  }
  for (const auto& [key, value] : request.query) {
    if (!is_plain_text(value))
      errors.push_back({"?" + clean_text(key, 100), std::string(kNotPlain)});
  }
  for (std::string& kind : values_of(request, "kind")) filter.kinds.emplace_back(std::move(kind));
  if (const auto text = request.parameter("tenant")) {
    filter.tenant = task::Tenant(std::string(*text));
  }
  if (const auto text = request.parameter("unique_key")) {
    filter.unique_key = task::UniqueKey(std::string(*text));
  }
  read_search_key(request, filter, errors);
  filter.created_from = read_time(request, "created_from", errors);
  filter.created_before = read_time(request, "created_before", errors);
  if (!limit_to(caller, filter)) errors.push_back({"?tenant", std::string(kOtherTenant)});
  return filter;
}

store::Filter read_filter(Fields& fields, const Identity& caller) {
  store::Filter filter;
  for (const std::string& name :
       fields.texts("state", kListMax).value_or(std::vector<std::string>())) {
    if (const auto state = state_of(name)) {
      filter.states.push_back(*state);
    } else {
      fields.refuse("state", unknown_state(name));
    }
  }
  for (std::string& kind : fields.texts("kind", kListMax).value_or(std::vector<std::string>())) {
    if (!is_plain_text(kind)) fields.refuse("kind", std::string(kNotPlain));
    filter.kinds.emplace_back(std::move(kind));
  }
  if (auto text = plain_text(fields, "tenant")) filter.tenant = task::Tenant(*std::move(text));
  if (auto text = plain_text(fields, "unique_key")) {
    filter.unique_key = task::UniqueKey(*std::move(text));
  }
  if (const auto keys = fields.texts_by_name("keys")) {
    if (keys->size() > 1) fields.refuse("keys", "has too many: one search key at a time");
    if (!keys->empty()) filter.search_key = *keys->begin();
    if (filter.search_key &&
        !(is_plain_text(filter.search_key->first) && is_plain_text(filter.search_key->second))) {
      fields.refuse("keys", std::string(kNotPlain));
    }
  }
  filter.created_from = fields.time("created_from");
  filter.created_before = fields.time("created_before");
  fields.refuse_others();
  if (!limit_to(caller, filter)) fields.refuse("tenant", std::string(kOtherTenant));
  return filter;
}

std::optional<TimePoint> read_time(const http::Request& request, std::string_view name,
                                   std::vector<FieldError>& errors) {
  const auto text = request.parameter(name);
  if (!text) return std::nullopt;
  const Result<TimePoint> time = parse_rfc3339("it", *text);
  if (time) return *time;
  errors.push_back({"?" + std::string(name), "must be a time such as 2026-11-16T09:15:00Z"});
  return std::nullopt;
}

std::optional<task::TaskId> read_cursor(const http::Request& request,
                                        std::vector<FieldError>& errors) {
  const auto cursor = request.parameter("cursor");
  if (!cursor) return std::nullopt;
  const auto id = task::parse_task_id("cursor", *cursor);
  if (id) return *id;
  errors.push_back({"?cursor", "must be the next_cursor of the page before"});
  return std::nullopt;
}

std::size_t read_limit(const http::Request& request, std::vector<FieldError>& errors) {
  const auto text = request.parameter("limit");
  if (!text) return kPageRows;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error == std::errc() && end == text->data() + text->size() && limit >= 1 &&
      limit <= store::kPageRowsMax) {
    return limit;
  }
  errors.push_back(
      {"?limit", fmt::format("must be a whole number from 1 to {}", store::kPageRowsMax)});
  return kPageRows;
}

void refuse_repeated_parameters(const http::Request& request, std::vector<FieldError>& errors) {
  std::set<std::string_view> seen;
  std::set<std::string_view> told;
  for (const auto& [key, value] : request.query) {
    if (seen.insert(key).second || !told.insert(key).second) continue;
    errors.push_back({"?" + clean_text(key, 100), "is given more than once: give it once"});
  }
}

void refuse_other_parameters(const http::Request& request, const std::vector<std::string>& known,
                             std::vector<FieldError>& errors) {
  for (const auto& [key, value] : request.query) {
    if (std::string_view(key).starts_with(kKeyPrefix) &&
        std::ranges::find(known, "key.*") != known.end()) {
      continue;
    }
    if (std::ranges::find(known, key) != known.end()) continue;
    errors.push_back(
        {"?" + key, known.empty()
                        ? std::string("is not known here: this takes no parameters")
                        : fmt::format("is not known here; there are: {}", fmt::join(known, ", "))});
  }
}

}  // namespace recourse::api
