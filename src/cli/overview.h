// The picture that `top` shows.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/colors.h"

namespace recourse::cli {

struct Overview {
  std::string server = {};
  boost::json::object stats = {};
  boost::json::object series = {};
  boost::json::array kinds = {};
};

std::string overview_text(const Overview& overview, std::optional<std::size_t> width,
                          const Colors& colors);

}  // namespace recourse::cli
