// schedule list.
#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

ExitCode list_schedules(Session& session) {
  const Table table({{.title = "NAME"},
                     {.title = "WHEN"},
                     {.title = "KIND", .may_shrink = true},
                     {.title = "TENANT", .leaves = 1},
                     {.title = "NEXT"}});
  const auto add = [&](const boost::json::object& schedule, Table& rows) {
    const auto next = time_of(schedule, "next_at");
    rows.add_texts({text_of(schedule, "name"), text_of(schedule, "when"), text_of(schedule, "kind"),
                    text_of(schedule, "tenant"), next ? relative(*next, session.now()) : "never"});
  };
  return list_few(session, "/api/v1/schedules", table, add,
                  "No schedules: declare some under schedules: in the configuration.");
}

}  // namespace

void add_schedule_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "schedule", "Tasks that come back by the clock",
                              {"recourse schedule list"});
  runs(add_command(group, "list", "What the server's configuration declares, and what comes next",
                   {"recourse schedule list"}),
       tree, list_schedules);
}

}  // namespace recourse::cli
