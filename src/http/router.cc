#include "http/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace recourse::http {
namespace {

constexpr std::array kAllMethods{Method::kGet,   Method::kHead,   Method::kPost,   Method::kPut,
                                 Method::kPatch, Method::kDelete, Method::kOptions};

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Unexpected refuse(std::string_view pattern, std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("route {}: {}", shown(pattern), why));
}

}  // namespace

Result<Router::Segment> Router::parse_segment(std::string_view text) {
  if (text.starts_with('{') && text.ends_with('}')) {
    const std::string_view name = text.substr(1, text.size() - 2);
    if (is_name(name)) return Segment{.text = std::string(name), .is_parameter = true};
    return fail(ErrorCode::kInvalid, "a parameter's name must be letters, digits and _");
  }
  if (text.empty() || text == "." || text == ".." || !is_plain_text(text) ||
      text.find_first_of("{}%?#") != std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "a segment must be plain text or one {parameter}");
  }
  return Segment{.text = std::string(text)};
}

Result<std::vector<Router::Segment>> Router::parse(std::string_view pattern) {
  if (!pattern.starts_with('/')) return refuse(pattern, "it must begin with /");
  std::vector<Segment> segments;
  for (std::string_view rest = pattern.substr(1); !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (slash + 1 == rest.size()) return refuse(pattern, "it must not end in /");
    Result<Segment> segment = parse_segment(rest.substr(0, slash));
    if (!segment) return refuse(pattern, segment.error().message);
    const bool is_repeated = std::ranges::any_of(segments, [&](const Segment& other) {
      return segment->is_parameter && other.is_parameter && other.text == segment->text;
    });
    if (is_repeated) return refuse(pattern, "a parameter occurs twice");
    segments.push_back(*std::move(segment));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return segments;
}

// `a` and `b` have as many segments.
Result<> Router::check_pair(const Pattern& a, const Pattern& b) {
  bool a_is_closer = false;
  bool b_is_closer = false;
  bool has_other_names = false;
  for (std::size_t at = 0; at < a.segments.size(); ++at) {
    const Segment& mine = a.segments[at];
    const Segment& other = b.segments[at];
    const bool same_text = mine.text == other.text;
    if (!mine.is_parameter && !other.is_parameter && !same_text) return {};  // no path fits both
    a_is_closer |= !mine.is_parameter && other.is_parameter;
    b_is_closer |= mine.is_parameter && !other.is_parameter;
    has_other_names |= mine.is_parameter && other.is_parameter && !same_text;
  }
  if (a_is_closer && b_is_closer) {
    return fail(ErrorCode::kInvalid, "a path fits both, and neither is the closer one");
  }
  if (a_is_closer || b_is_closer) return {};
  if (has_other_names) return fail(ErrorCode::kInvalid, "one parameter has two names");
  if (a.method == b.method) return fail(ErrorCode::kInvalid, "they are the same");
  return {};
}

Result<Router> Router::make(std::vector<Route> routes) {
  Router router;
  for (std::size_t at = 0; at < routes.size(); ++at) {
    Result<std::vector<Segment>> segments = parse(routes[at].pattern);
    if (!segments) return fail(std::move(segments).error());
    const std::size_t length = segments->size();
    if (router.by_length_.size() <= length) router.by_length_.resize(length + 1);
    Pattern added{.route = at, .method = routes[at].method, .segments = *std::move(segments)};
    for (const Pattern& other : router.by_length_[length]) {
      if (const Result<> apart = check_pair(added, other); !apart) {
        return refuse(routes[at].pattern,
                      fmt::format("together with {}: {}", shown(routes[other.route].pattern),
                                  apart.error().message));
      }
    }
    router.by_length_[length].push_back(std::move(added));
  }
  const auto parameters = [](const Pattern& pattern) {
    return std::ranges::count(pattern.segments, true, &Segment::is_parameter);
  };
  for (std::vector<Pattern>& patterns : router.by_length_) {
    std::ranges::stable_sort(patterns, {}, parameters);
  }
  router.routes_ = std::move(routes);
  return router;
}

bool Router::fits(const Pattern& pattern, const std::vector<std::string>& path) {
  for (std::size_t at = 0; at < path.size(); ++at) {
    const Segment& segment = pattern.segments[at];
    // `/tasks//retry` names no task.
    if (segment.is_parameter ? path[at].empty() : segment.text != path[at]) return false;
  }
  return true;
}

const Router::Pattern* Router::find(Method method, const std::vector<std::string>& path) const {
  if (path.size() >= by_length_.size()) return nullptr;
  for (const Pattern& pattern : by_length_[path.size()]) {
    if (pattern.method == method && fits(pattern, path)) return &pattern;
  }
  return nullptr;
}

Router::Found Router::found(const Pattern& pattern, const std::vector<std::string>& path) {
  Found found{.route = pattern.route};
  for (std::size_t at = 0; at < path.size(); ++at) {
    const Segment& segment = pattern.segments[at];
    if (segment.is_parameter) found.parameters.emplace_back(segment.text, path[at]);
  }
  return found;
}

std::string Router::allow(const std::vector<std::string>& path) const {
  std::string allow;
  for (const Method method : kAllMethods) {
    const bool is_here = find(method, path) != nullptr ||
                         (method == Method::kHead && find(Method::kGet, path) != nullptr) ||
                         (method == Method::kOptions && !allow.empty());
    if (!is_here) continue;
    if (!allow.empty()) allow += ", ";
    allow += to_string(method);
  }
  return allow;
}

Router::Match Router::match(Method method, const std::vector<std::string>& path) const {
  const Pattern* pattern = find(method, path);
  if (pattern == nullptr && method == Method::kHead) pattern = find(Method::kGet, path);
  if (pattern != nullptr) return found(*pattern, path);
  std::string allowed = allow(path);
  if (allowed.empty()) return NotFound{};
  if (method == Method::kOptions) return Options{.allow = std::move(allowed)};
  return WrongMethod{.allow = std::move(allowed)};
}

std::string_view Router::Found::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace recourse::http
