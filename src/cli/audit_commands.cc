// audit list: who did what, to tasks and beside them.
#include <memory>

#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

Table audit_table(const boost::json::array& entries, TimePoint now) {
  Table table({{.title = "WHEN"},
               {.title = "WHO", .may_shrink = true},
               {.title = "DID"},
               {.title = "DETAIL", .may_shrink = true},
               {.title = "TASK"}});
  for (const auto& item : entries) {
    const auto* entry = item.if_object();
    if (entry == nullptr) continue;
    const auto at = time_of(*entry, "at");
    table.add_texts({at ? relative(*at, now) : "", text_of(*entry, "actor"),
                     text_of(*entry, "action"), text_of(*entry, "detail"),
                     text_of(*entry, "task")});
  }
  return table;
}

}  // namespace

void add_audit_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "audit", "Who did what", {"recourse audit list"});
  const auto flags = std::make_shared<ListFlags>();
  CLI::App& list =
      add_command(group, "list", "What people and nodes did, the newest first",
                  {"recourse audit list", "recourse audit list --all --json | jq .items"});
  add_page_flags(list, *flags);
  runs(list, tree, [flags](Session& session) {
    return list_pages(session, "/api/v1/audit", *flags, audit_table, "Nothing yet.");
  });
}

}  // namespace recourse::cli
