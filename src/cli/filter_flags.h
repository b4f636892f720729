// Which tasks: by state, kind and search key. The same flags list tasks and choose them for a bulk
// job.
#pragma once

#include <CLI/App.hpp>
#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace recourse::cli {

struct FilterFlags {
  std::vector<std::string> states = {};
  std::vector<std::string> kinds = {};
  // NAME=VALUE
  std::string key = {};

  [[nodiscard]] bool empty() const { return states.empty() && kinds.empty() && key.empty(); }
};

void add_filter_flags(CLI::App& command, FilterFlags& flags);
// Without --state, for those whose states are known.
void add_kind_and_key_flags(CLI::App& command, FilterFlags& flags);

using Parameters = std::vector<std::pair<std::string, std::string>>;
// For the query of a list.
Result<Parameters> to_parameters(const FilterFlags& flags);
// For the body of a bulk job.
Result<boost::json::object> to_filter(const FilterFlags& flags);

// The name is before the first =.
Result<std::pair<std::string, std::string>> split_key(const std::string& text);

// "dead tasks of grant-points with order=7", for so many of them.
std::string describe(const FilterFlags& flags, std::size_t how_many);

}  // namespace recourse::cli
