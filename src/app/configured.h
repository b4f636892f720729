// The configuration as the flags of a command name it.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/config/load.h"

namespace recourse::app {

struct ConfigFlags {
  std::string file = {};
  std::string store = {};
  std::string listen = {};
  std::vector<std::string> set = {};
};

void add_config_flags(CLI::App& command, ConfigFlags& flags);

Environment environment_of_process();

// With all that is wrong.
Loaded load_flags(const ConfigFlags& flags, const Environment& environment);
// Says on standard error what is wrong, and what only seems to be.
std::optional<Config> load_or_complain(const ConfigFlags& flags, const Environment& environment);

}  // namespace recourse::app
