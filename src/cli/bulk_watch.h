// A bulk job, watched while the server works it off.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/session.h"

namespace recourse::cli {

// The job as it ended, with a progress bar meanwhile; empty where nobody can say, which is said.
// `total` is how many tasks it concerns, where somebody knows.
std::optional<boost::json::object> watch_job(Session& session, boost::json::object job,
                                             std::string label, std::optional<std::size_t> total);

// Of a job that has ended.
ExitCode end_of_job(Session& session, const boost::json::object& job);

}  // namespace recourse::cli
