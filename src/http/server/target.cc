#include "http/server/target.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/server/characters.h"

namespace recourse::http {
namespace {

enum class Plus : bool { kIsPlus, kIsSpace };

Result<std::string> decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '+' && plus == Plus::kIsSpace) {
      decoded += ' ';
    } else if (c != '%') {
      decoded += c;
    } else {
      const int high = at + 2 < text.size() ? hex_value(text[at + 1]) : -1;
      const int low = high >= 0 ? hex_value(text[at + 2]) : -1;
      if (low < 0) return fail(ErrorCode::kInvalid, "a % must be followed by two hex digits");
      decoded += static_cast<char>(high * 16 + low);
      at += 2;
    }
  }
  return decoded;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_text_without_nul(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;
  return is_ascii(text) || clean_text(text, text.size()) == text;
}

Result<std::string> parse_segment(std::string_view text) {
  Result<std::string> segment = decode(text, Plus::kIsPlus);
  if (!segment) return segment;
  if (!is_plain_text(*segment)) {
    return fail(ErrorCode::kInvalid, "the path must be UTF-8 without control characters");
  }
  if (*segment == "." || *segment == "..") {
    return fail(ErrorCode::kInvalid, "the path must not hold . or .. as a segment");
  }
  return segment;
}

Result<> parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    if (piece.empty()) continue;
    const std::size_t equals = std::min(piece.find('='), piece.size());
    Result<std::string> name = decode(piece.substr(0, equals), Plus::kIsSpace);
    if (!name) return fail(std::move(name).error());
    const std::size_t value_start = std::min(equals + 1, piece.size());
    Result<std::string> value = decode(piece.substr(value_start), Plus::kIsSpace);
    if (!value) return fail(std::move(value).error());
    if (!is_text_without_nul(*name) || !is_text_without_nul(*value)) {
      return fail(ErrorCode::kInvalid, "the query must be UTF-8 without NUL");
    }
    target.query.emplace_back(*std::move(name), *std::move(value));
  }
  return {};
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) {
    return fail(ErrorCode::kInvalid,
                "the target must be a path that begins with /; this server is no proxy");
  }
  if (!std::ranges::all_of(text, is_visible) || text.find('#') != std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "the target holds a character that must be sent as %XX");
  }
  Target target;
  const std::size_t path_end = std::min(text.find('?'), text.size());
  std::string_view path = text.substr(1, path_end - 1);
  bool more = !path.empty();
  if (more) target.path.reserve(static_cast<std::size_t>(std::ranges::count(path, '/')) + 1);
  while (more) {
    const std::size_t slash = path.find('/');
    Result<std::string> segment = parse_segment(path.substr(0, slash));
    if (!segment) return fail(std::move(segment).error());
    target.path.push_back(*std::move(segment));
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  const std::string_view query = path_end < text.size() ? text.substr(path_end + 1) : "";
  if (Result<> parsed = parse_query(query, target); !parsed) {
    return fail(std::move(parsed).error());
  }
  return target;
}

}  // namespace recourse::http
