// Guards and guarded rows as people see them.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/colors.h"
#include "cli/table.h"

namespace recourse::cli {

// A number or a text, as the table has it.
std::string row_id_text(const boost::json::value& id);

Table guard_table(const boost::json::array& guards);
// What each sees of its table.
Table report_table(const boost::json::array& reports);
std::string report_page(const boost::json::object& report, const Colors& colors);
// Rows in trouble.
Table rows_table(const boost::json::object& page);
// One row, and why it is where it is.
std::string row_page(const boost::json::object& row, const Colors& colors);
// What a scan did, in a line.
std::string scan_line(const boost::json::object& report);

}  // namespace recourse::cli
