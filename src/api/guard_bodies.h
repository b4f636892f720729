// The guard door's words on the wire.
#pragma once

#include <boost/json.hpp>
#include <string_view>

#include "guard/guard.h"
#include "guard/table.h"

namespace recourse::api {

// A number where the column has numbers.
boost::json::value to_json(const guard::RowId& id);
// Of a foreign table; bytes that are no text are shown in base64.
boost::json::value to_json(const SqlValue& value);

boost::json::object to_json(const guard::Guard& guard);
boost::json::object to_json(const guard::TableReport& report);
boost::json::object to_json(const guard::Row& row);
boost::json::object to_json(const guard::Explanation& explanation);
boost::json::object to_json(const guard::ScanReport& report);

// due, not_waiting, ...
std::string_view to_string(guard::Standing standing);

}  // namespace recourse::api
