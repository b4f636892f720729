#include "sql/postgres/placeholders.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace recourse::sql::postgres {
namespace {

// The size of `$$` or `$tag$` at the beginning; 0 where there is none.
std::size_t dollar_quote_size(std::string_view text) {
  if (text.empty() || text[0] != '$') return 0;
  const auto is_tag = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  const auto end = std::find_if_not(text.begin() + 1, text.end(), is_tag);
  return end != text.end() && *end == '$' ? static_cast<std::size_t>(end - text.begin()) + 1 : 0;
}

// Up to and with the next `end`, or all of it.
std::size_t through(std::string_view text, std::size_t from, std::string_view end) {
  const std::size_t found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

// The size of the quoted text or comment at the beginning; 0 where there is none. A doubled quote
// inside of quotes looks like two texts in a row, which comes to the same.
std::size_t opaque_size(std::string_view text) {
  if (text[0] == '\'' || text[0] == '"') return through(text, 1, text.substr(0, 1));
  if (text.starts_with("--")) return through(text, 2, "\n");
  if (text.starts_with("/*")) return through(text, 2, "*/");
  const std::size_t quote = dollar_quote_size(text);
  return quote == 0 ? 0 : through(text, quote, text.substr(0, quote));
}

}  // namespace

std::string with_numbered_placeholders(std::string_view statement) {
  std::string numbered;
  numbered.reserve(statement.size() + 64);
  int count = 0;
  while (!statement.empty()) {
    const std::size_t opaque = opaque_size(statement);
    if (opaque == 0 && statement[0] == '?') {
      numbered += '$' + std::to_string(++count);
    } else {
      numbered += statement.substr(0, std::max<std::size_t>(opaque, 1));
    }
    statement.remove_prefix(std::max<std::size_t>(opaque, 1));
  }
  return numbered;
}

}  // namespace recourse::sql::postgres
