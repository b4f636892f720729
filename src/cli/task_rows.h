// Tasks as rows, and how states look.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/table.h"

namespace recourse::cli {

Table task_table(const boost::json::array& tasks, TimePoint now);

using Style = std::string (Colors::*)(std::string_view) const;
// Nothing where it is nothing to look at.
Style style_of_state(std::string_view state);
// is pending, has succeeded
std::string state_phrase(std::string_view state);

}  // namespace recourse::cli
