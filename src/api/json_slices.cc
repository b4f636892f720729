#include "api/json_slices.h"

#include <boost/json.hpp>

namespace recourse::api {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_space() {
    while (at_ < text_.size() && kWhiteSpace.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void step() { ++at_; }

  // Over one value of any sort.
  std::string_view value() {
    skip_space();
    const std::size_t begin = at_;
    if (peek() == '"') {
      skip_string();
    } else if (peek() == '{' || peek() == '[') {
      skip_nest();
    } else {
      while (at_ < text_.size() &&
             std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) {
        ++at_;
      }
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }
  void skip_nest() {
    int depth = 0;
    do {
      const char c = peek();
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (depth > 0 && at_ < text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// `key` with its quotes. A name may be written with escapes, and parsers see through them.
bool is_named(std::string_view key, std::string_view name) {
  if (key.find('\\') == std::string_view::npos) {
    return key.size() == name.size() + 2 && key.substr(1, name.size()) == name;
  }
  boost::json::error_code error;
  const boost::json::value plain = boost::json::parse(key, error);
  return !error && plain.is_string() && std::string_view(plain.get_string()) == name;
}

}  // namespace

std::optional<std::string_view> member_of(std::string_view object, std::string_view name) {
  Cursor cursor(object);
  std::optional<std::string_view> found;
  cursor.skip_space();
  if (cursor.peek() != '{') return found;
  do {
    cursor.step();  // the brace or the comma
    cursor.skip_space();
    if (cursor.peek() != '"') break;
    const std::string_view key = cursor.value();
    cursor.skip_space();
    cursor.step();  // the colon
    const std::string_view value = cursor.value();
    if (is_named(key, name)) found = value;
    cursor.skip_space();
  } while (cursor.peek() == ',');
  return found;
}

std::vector<std::string_view> elements_of(std::string_view array) {
  Cursor cursor(array);
  std::vector<std::string_view> found;
  cursor.skip_space();
  if (cursor.peek() != '[') return found;
  do {
    cursor.step();
    cursor.skip_space();
    if (cursor.peek() == ']') break;
    found.push_back(cursor.value());
    cursor.skip_space();
  } while (cursor.peek() == ',');
  return found;
}

}  // namespace recourse::api
