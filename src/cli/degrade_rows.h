// Failure records as people see them: a table, one whole, a summary.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "base/time.h"
#include "cli/colors.h"
#include "cli/table.h"

namespace recourse::cli {

Table failure_table(const boost::json::array& records, TimePoint now);
std::string failure_page(const boost::json::object& record, TimePoint now, const Colors& colors);
std::string summary_page(const boost::json::object& summary, TimePoint now,
                         std::optional<std::size_t> width, const Colors& colors);

}  // namespace recourse::cli
