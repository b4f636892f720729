// Cases as rows, and one as a page to read.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/time.h"
#include "cli/table.h"

namespace recourse::cli {

Table case_table(const boost::json::array& cases, TimePoint now);

// With what was done to its task, notes included. `width` is the terminal's; empty: nothing is cut.
std::string case_page(const boost::json::object& one, const boost::json::array& audit,
                      TimePoint now, std::optional<std::size_t> width, const Colors& colors);

// What people did to one task, and why.
Table deeds_table(const boost::json::array& audit, TimePoint now);

// What becomes of it from here on: "in 2 h", "no more".
std::string next_reminder(const boost::json::object& one, TimePoint now);

}  // namespace recourse::cli
