// From the common `?` to PostgreSQL's `$1`, `$2` and so on.
#pragma once

#include <string>
#include <string_view>

namespace recourse::sql::postgres {

// Leaves alone what stands in quotes, in $$ quotes and in comments. Operators with a question mark
// cannot be written; strings with backslash escapes (E'...') neither.
std::string with_numbered_placeholders(std::string_view statement);

}  // namespace recourse::sql::postgres
