// An event of the server as one line for people.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "cli/colors.h"

namespace recourse::cli {

std::string event_line(std::string_view name, const boost::json::object& data,
                       const Colors& colors);

}  // namespace recourse::cli
