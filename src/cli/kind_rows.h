// Kinds as rows and as a page.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/time.h"
#include "cli/colors.h"
#include "cli/table.h"

namespace recourse::cli {

Table kind_table(const boost::json::array& kinds);
std::string kind_page(const boost::json::object& kind, TimePoint now, const Colors& colors);

}  // namespace recourse::cli
