// From a file, the environment and flags to a Config, or to the list of all that is wrong.
//
// Each wins over those before it: defaults, the file, the environment, the flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.h"
#include "app/config/secret.h"
#include "app/config/where.h"

namespace recourse::app {

struct ConfigSources {
  // For messages; empty where there is no file.
  std::string file = {};
  std::string text = {};
  Environment environment = {};
  // section.key=value
  std::vector<std::string> flags = {};
};

struct Loaded {
  // Only without errors; there may be warnings all the same.
  std::optional<Config> config = {};
  std::vector<Problem> problems = {};
};

Loaded parse_config(const ConfigSources& sources);

// Reads the file first; an empty path means that there is none.
Loaded load_config(const std::string& path, Environment environment,
                   std::vector<std::string> flags);

}  // namespace recourse::app
