#include "create/canonical_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/error.hpp>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "create/sha256.h"

namespace recourse::create {
namespace {

namespace json = boost::json;

// Deep enough for any request, and far from the end of the stack.
constexpr std::size_t kDepthMax = 100;

void write(std::string& out, std::string_view text) {
  constexpr std::string_view kShort = "\b\t\n\f\r";
  constexpr std::array<std::string_view, 5> kEscapes{"\\b", "\\t", "\\n", "\\f", "\\r"};
  out += '"';
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (code >= 0x20) {
      out += byte;
    } else if (const auto at = kShort.find(byte); at != std::string_view::npos) {
      out += kEscapes[at];
    } else {
      out += fmt::format("\\u{:04x}", code);
    }
  }
  out += '"';
}

// As ECMAScript's Number::toString does: the fewest digits that read back as the same double,
// plain between 1e-7 and 1e21.
Result<> write(std::string& out, double number) {
  if (!std::isfinite(number)) {
    return fail(ErrorCode::kInvalid, "a number is too large for JSON, whose numbers are doubles");
  }
  if (number == 0) {
    out += '0';
    return {};
  }
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                          std::abs(number), std::chars_format::scientific);
  const std::string_view shortest(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = shortest.find('e');
  std::string digits(shortest.substr(0, 1));
  if (e > 2) digits += shortest.substr(2, e - 2);
  // from_chars knows no plus.
  const std::size_t sign = shortest[e + 1] == '+' ? 2 : 1;
  int exponent = 0;
  std::from_chars(shortest.data() + e + sign, shortest.data() + shortest.size(), exponent);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before it
  if (number < 0) out += '-';
  if (point > 21 || point <= -6) {
    out += digits.substr(0, 1);
    if (count > 1) out += "." + digits.substr(1);
    out += fmt::format("e{}{}", exponent < 0 ? "-" : "+", std::abs(exponent));
  } else if (point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else if (point >= count) {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else {
    out += digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  }
  return {};
}

// UTF-8 sorts like code points; in UTF-16 those above the first plane come before U+E000.
std::u16string utf16_of(std::string_view text) {
  std::u16string units;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t j = 1; j < length && i + j < text.size(); ++j) {
      code = code << 6U | (static_cast<unsigned char>(text[i + j]) & 0x3FU);
    }
    i += length;
    if (code < 0x10000) {
      units += static_cast<char16_t>(code);
    } else {
      units += static_cast<char16_t>(0xD800 + ((code - 0x10000) >> 10U));
      units += static_cast<char16_t>(0xDC00 + ((code - 0x10000) & 0x3FFU));
    }
  }
  return units;
}

// Told of a text's parts as they are read, and writes them anew. Boost's own values would have
// rounded the numbers.
class Rewriter {
 public:
  // What Boost.JSON's parser asks of whoever it tells.
  // NOLINTBEGIN(readability-identifier-naming)
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  // NOLINTEND(readability-identifier-naming)
  using Code = boost::system::error_code;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return open(); }
  bool on_array_begin(Code&) { return open(); }
  bool on_object_end(std::size_t, Code& code) {
    std::vector<Member> members = std::move(levels_.back().members);
    levels_.pop_back();
    std::ranges::sort(members, {}, &Member::units);
    const auto same = std::ranges::adjacent_find(members, {}, &Member::units);
    if (same != members.end()) return refuse(code, "a member is there twice: " + same->key);
    std::string text = "{";
    for (const Member& member : members) {
      if (text.size() > 1) text += ',';
      text += member.key + ":" + member.value;
    }
    return add(text + "}");
  }
  bool on_array_end(std::size_t, Code&) {
    std::string text = "[";
    for (const Member& item : levels_.back().members) {
      if (text.size() > 1) text += ',';
      text += item.value;
    }
    levels_.pop_back();
    return add(text + "]");
  }
  bool on_key_part(json::string_view part, std::size_t, Code&) { return keep(part); }
  bool on_key(json::string_view part, std::size_t, Code&) {
    keep(part);
    Member& member = levels_.back().members.emplace_back();
    member.units = utf16_of(part_);
    write(member.key, std::exchange(part_, {}));
    levels_.back().has_key = true;
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, Code&) { return keep(part); }
  bool on_string(json::string_view part, std::size_t, Code&) {
    keep(part);
    std::string text;
    write(text, std::exchange(part_, {}));
    return add(std::move(text));
  }
  bool on_number_part(json::string_view part, Code&) { return keep(part); }
  bool on_int64(std::int64_t, json::string_view part, Code& code) { return number(part, code); }
  bool on_uint64(std::uint64_t, json::string_view part, Code& code) { return number(part, code); }
  bool on_double(double, json::string_view part, Code& code) { return number(part, code); }
  bool on_bool(bool value, Code&) { return add(value ? "true" : "false"); }
  bool on_null(Code&) { return add("null"); }
  bool on_comment_part(json::string_view, Code&) { return true; }
  bool on_comment(json::string_view, Code&) { return true; }

  [[nodiscard]] const std::string& text() const { return text_; }
  // In words of ours, where there are some.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  struct Member {
    std::u16string units;
    std::string key;  // as it is written
    std::string value;
  };
  struct Level {
    std::vector<Member> members;
    bool has_key = false;
  };

  bool keep(json::string_view part) {
    part_.append(part.data(), part.size());
    return true;
  }
  bool open() {
    levels_.emplace_back();
    return true;
  }
  bool add(std::string value) {
    if (levels_.empty()) {
      text_ = std::move(value);
      return true;
    }
    Level& level = levels_.back();
    if (!std::exchange(level.has_key, false)) level.members.emplace_back();
    level.members.back().value = std::move(value);
    return true;
  }
  bool number(json::string_view part, Code& code) {
    keep(part);
    const std::string digits = std::exchange(part_, {});
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // What is too small for a double is zero; what is too large is none.
    const bool is_small = read.ec == std::errc::result_out_of_range && is_tiny(digits);
    std::string text;
    const Result<> written =
        read.ec == std::errc() || is_small
            ? write(text, is_small ? 0.0 : value)
            : fail(ErrorCode::kInvalid,
                   "a number is too large for JSON, whose numbers are doubles: " + digits);
    return written ? add(std::move(text)) : refuse(code, written.error().message);
  }
  static bool is_tiny(std::string_view digits) {
    const std::size_t e = digits.find_first_of("eE");
    if (e != std::string_view::npos) return digits[e + 1] == '-';
    return digits.starts_with("0.") || digits.starts_with("-0.");
  }
  bool refuse(Code& code, std::string why) {
    complaint_ = std::move(why);
    code = json::error::exception;
    return false;
  }

  std::vector<Level> levels_;
  std::string part_;
  std::string text_;
  std::string complaint_;
};

}  // namespace

Result<std::string> canonical_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kDepthMax;
  json::basic_parser<Rewriter> parser(options);
  boost::system::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::error::extra_data;
  if (!error) return parser.handler().text();
  const std::string& complaint = parser.handler().complaint();
  return fail(ErrorCode::kInvalid,
              "the request is no JSON: " + (complaint.empty() ? error.message() : complaint));
}

Result<std::string> request_hash(std::string_view text) {
  const Result<std::string> canonical = canonical_json(text);
  if (!canonical) return fail(canonical.error());
  return sha256_hex(*canonical);
}

}  // namespace recourse::create
