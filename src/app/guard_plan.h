// `recourse guard plan` and `guard watch --config`: what guards would add to their tables, and what
// they see of them. Nothing is changed, and no server is needed.
#pragma once

#include <CLI/App.hpp>
#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <string>

#include "app/configured.h"
#include "base/result.h"
#include "cli/terminal.h"
#include "guard/table.h"

namespace recourse::app {

// Its table; an SQLite file that a server has open is refused.
Result<std::unique_ptr<guard::GuardedTable>> open_guard_alone(const Config& config,
                                                              const GuardConfig& guard);

// What the guards of a configuration see of their tables, which may have none of their columns yet.
// `guard`: that one alone, and the error is its own; empty: all, those that fail with an `error`.
Result<boost::json::array> guard_reports(const std::string& config, const std::string& guard);

// On standard output, ready to be run by who may.
int print_plan(cli::Terminal& terminal, const ConfigFlags& flags, bool json = false);

// Below `guard`, which must be there.
void add_guard_plan_command(CLI::App& program, cli::Terminal& terminal,
                            std::function<int()>& chosen);

}  // namespace recourse::app
