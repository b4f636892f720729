#include "cli/commands.h"

#include <utility>

namespace recourse::cli {

void add_commands(CLI::App& program, Terminal& terminal, std::function<int()>& chosen,
                  GuardReports guard_reports) {
  const Tree tree{.program = program,
                  .terminal = terminal,
                  .chosen = chosen,
                  .guard_reports = std::move(guard_reports)};
  add_task_commands(tree);
  add_kind_commands(tree);
  add_schedule_commands(tree);
  add_dead_commands(tree);
  add_case_commands(tree);
  add_bulk_commands(tree);
  add_degrade_commands(tree);
  add_guard_commands(tree);
  add_message_commands(tree);
  add_node_commands(tree);
  add_stats_command(tree);
  add_audit_commands(tree);
  add_notify_commands(tree);
  add_alert_commands(tree);
  add_token_commands(tree);
  add_events_command(tree);
  add_top_command(tree);
  add_bench_command(tree);
  add_completion_command(tree);
}

void add_task_commands(const Tree& tree) {
  CLI::App& group =
      add_group(tree.program, "task", "Submit, look at and steer tasks",
                {"recourse task submit grant-points --payload '{\"user\": 7}'",
                 "recourse task list --state dead", "recourse task explain tsk_01J..."});
  add_submit(group, tree);
  add_list(group, tree);
  add_show(group, tree);
  add_explain(group, tree);
  add_edit(group, tree);
  add_steering(group, tree);
}

}  // namespace recourse::cli
