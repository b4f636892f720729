// Members of the server's answers, read without trust: what is missing or of another type is empty.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace recourse::cli {

// Printable: nobody's answer moves the cursor.
std::string text_of(const boost::json::object& object, std::string_view name);
std::int64_t number_of(const boost::json::object& object, std::string_view name);
double fraction_of(const boost::json::object& object, std::string_view name);
bool flag_of(const boost::json::object& object, std::string_view name);
std::optional<TimePoint> time_of(const boost::json::object& object, std::string_view name);
// An empty one where there is none.
const boost::json::object& object_of(const boost::json::object& object, std::string_view name);
const boost::json::array& array_of(const boost::json::object& object, std::string_view name);

// `{"code": "timeout", "message": "..."}` on one line.
std::string error_text(const boost::json::object& error);

}  // namespace recourse::cli
