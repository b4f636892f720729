// What the API shows of things, as JSON: one place for each name on the wire.
#pragma once

#include <boost/json.hpp>
#include <optional>

#include "api/tokens.h"
#include "store/cases.h"
#include "store/history.h"
#include "store/node.h"
#include "task/record.h"

namespace recourse::api {

// Payloads are shown only where asked for.
enum class Payload : std::uint8_t { kHidden, kShown };

boost::json::object to_json(const task::Task& task, Payload payload);
boost::json::object to_json(const store::Attempt& attempt);
boost::json::object to_json(const store::Note& note);
boost::json::object to_json(const store::AuditEntry& entry);
// A case with what is told of its task.
boost::json::object to_json(const store::Case& one, const task::Task& task);
boost::json::object to_json(const store::NodeRow& node);
boost::json::object to_json(const TokenView& token);

boost::json::value to_json(std::optional<TimePoint> time);

}  // namespace recourse::api
