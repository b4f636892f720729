// `recourse doctor`: what is wrong here, and what to do about it. It changes nothing.
#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "cli/terminal.h"

namespace recourse::app {

void add_doctor_command(CLI::App& program, cli::Terminal& terminal, std::function<int()>& chosen);

}  // namespace recourse::app
