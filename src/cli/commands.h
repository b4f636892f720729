// All commands that speak to a server over its API.
#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "cli/command.h"
#include "cli/terminal.h"

namespace recourse::cli {

// `chosen` is set when the arguments were read; what is given must outlive its call.
void add_commands(CLI::App& program, Terminal& terminal, std::function<int()>& chosen,
                  GuardReports guard_reports = nullptr);

// The parts of it, one for each noun.
void add_task_commands(const Tree& tree);
void add_kind_commands(const Tree& tree);
void add_schedule_commands(const Tree& tree);
void add_dead_commands(const Tree& tree);
void add_case_commands(const Tree& tree);
void add_bulk_commands(const Tree& tree);
void add_degrade_commands(const Tree& tree);
void add_guard_commands(const Tree& tree);
void add_message_commands(const Tree& tree);
void add_node_commands(const Tree& tree);
void add_stats_command(const Tree& tree);
void add_audit_commands(const Tree& tree);
void add_notify_commands(const Tree& tree);
void add_alert_commands(const Tree& tree);
void add_token_commands(const Tree& tree);
void add_events_command(const Tree& tree);
void add_top_command(const Tree& tree);
void add_bench_command(const Tree& tree);
void add_completion_command(const Tree& tree);

// Of `task`.
void add_submit(CLI::App& group, const Tree& tree);
void add_edit(CLI::App& group, const Tree& tree);
void add_list(CLI::App& group, const Tree& tree);
void add_show(CLI::App& group, const Tree& tree);
void add_explain(CLI::App& group, const Tree& tree);
void add_steering(CLI::App& group, const Tree& tree);

// Of `message`.
void add_message_steering(CLI::App& group, const Tree& tree);

}  // namespace recourse::cli
