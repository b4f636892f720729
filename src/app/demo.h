// `recourse demo`: a throwaway server, a downstream that fails, and the story of a few tasks.
#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "cli/terminal.h"

namespace recourse::app {

void add_demo_command(CLI::App& program, cli::Terminal& terminal, std::function<int()>& chosen);

}  // namespace recourse::app
