// The command line of recourse_sim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/planted_bug.h"
#include "base/result.h"

namespace recourse::sim {

struct Options {
  int seeds = 20;
  int nodes = 5;
  double hours = 1.0;
  // Only this one.
  std::optional<std::uint64_t> seed;
  std::uint64_t first_seed = 1;
  int threads = 0;  // as many as there are processors
  PlantedBug bug = PlantedBug::kNone;
  std::size_t tail = 60;  // lines of the trace
  bool list_bugs = false;
  bool help = false;
};

Result<Options> parse_options(const std::vector<std::string>& arguments);
std::string help_text();

}  // namespace recourse::sim
