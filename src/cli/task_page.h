// All that is known of one task, as a page to read.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/time.h"
#include "cli/colors.h"

namespace recourse::cli {

struct TaskFacts {
  boost::json::object task = {};
  // Why it is where it is; empty where that is plain.
  std::string explanation = {};
  boost::json::array attempts = {};
  boost::json::array notes = {};
  boost::json::array audit = {};
};

// `width` is the terminal's; empty: nothing is cut.
std::string task_page(const TaskFacts& facts, TimePoint now, std::optional<std::size_t> width,
                      const Colors& colors);

}  // namespace recourse::cli
