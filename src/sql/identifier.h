// Names of tables and columns inside of a statement. Each database's folder says which quotes it
// takes; nothing else writes a name that came from outside.
#pragma once

#include <string>
#include <string_view>

namespace recourse::sql {

// In quotes, with quotes inside of it doubled: exactly that name, whatever is in it.
inline std::string quoted_name(std::string_view name, char quote) {
  std::string quoted(1, quote);
  for (const char c : name) {
    if (c == quote) quoted += quote;
    quoted += c;
  }
  return quoted += quote;
}

namespace sqlite {
inline std::string quoted(std::string_view name) { return quoted_name(name, '"'); }
}  // namespace sqlite
namespace postgres {
inline std::string quoted(std::string_view name) { return quoted_name(name, '"'); }
}  // namespace postgres
namespace mysql {
inline std::string quoted(std::string_view name) { return quoted_name(name, '`'); }
}  // namespace mysql

}  // namespace recourse::sql
