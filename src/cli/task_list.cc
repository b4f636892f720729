// task list.
#include <memory>

#include "cli/commands.h"
#include "cli/list_run.h"

namespace recourse::cli {

void add_list(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<ListFlags>();
  CLI::App& command = add_command(
      group, "list", "The newest first",
      {"recourse task list", "recourse task list --state dead,failed --kind grant-points",
       "recourse task list --key order=4711 --json"});
  add_filter_flags(command, flags->filter);
  add_page_flags(command, *flags);
  runs(command, tree, [flags](Session& session) {
    return list_tasks(session, "/api/v1/tasks", *flags,
                      "No such tasks. Submit one: recourse task submit KIND --payload TEXT");
  });
}

}  // namespace recourse::cli
