// Messages as people see them: a table, one whole, its attempts, a summary, where they come from.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "base/time.h"
#include "cli/colors.h"
#include "cli/table.h"

namespace recourse::cli {

Table message_table(const boost::json::array& records, TimePoint now);
std::string message_page(const boost::json::object& record, TimePoint now, const Colors& colors);
Table message_attempts(const boost::json::array& attempts, TimePoint now);
std::string message_summary_page(const boost::json::object& summary, TimePoint now,
                                 std::optional<std::size_t> width, const Colors& colors);
Table empty_source_table();
void add_source_row(const boost::json::object& source, Table& table);

}  // namespace recourse::cli
