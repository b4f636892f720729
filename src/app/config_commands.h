// `recourse config check`, `show` and `reference`.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace recourse::app {

// `chosen` becomes what the command line asks for.
void add_config_commands(CLI::App& program, std::function<int()>& chosen);

}  // namespace recourse::app
