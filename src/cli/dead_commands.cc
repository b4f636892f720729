// dead list, dead retry: what ended badly and waits for a person.
#include <memory>

#include "cli/commands.h"
#include "cli/list_run.h"
#include "cli/steer.h"

namespace recourse::cli {
namespace {

constexpr Steering kRetry{"retry", "Retries", "retried"};

struct RetryFlags {
  SteerFlags steer = {};
  bool all = false;
};

ExitCode retry(Session& session, RetryFlags flags) {
  if (!flags.steer.ids.empty()) {
    if (flags.steer.filter.empty() && !flags.all) return steer(session, kRetry, flags.steer);
    return session.complain(ExitCode::kUsage, "give ids, or --kind, --key or --all, and not both");
  }
  if (flags.steer.filter.empty() && !flags.all) {
    return session.complain(ExitCode::kUsage,
                            "nothing to retry: give ids, choose by --kind or --key, or say --all");
  }
  flags.steer.filter.states = {"dead", "failed"};
  return steer_by_filter(session, kRetry, flags.steer);
}

void add_dead_retry(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<RetryFlags>();
  CLI::App& command =
      add_command(group, "retry", "Begin dead letters anew, with all their retries",
                  {"recourse dead retry tsk_01J...", "recourse dead retry --kind grant-points",
                   "recourse dead retry --all --yes"});
  command.add_option("ids", flags->steer.ids, "Which; - reads them from standard input")
      ->type_name("ID...");
  add_kind_and_key_flags(command, flags->steer.filter);
  command.add_flag("--all", flags->all, "All of them");
  command.add_option("--reason", flags->steer.reason, "For the audit")->type_name("TEXT");
  command.add_flag("-y,--yes", flags->steer.yes, "Do not ask before many are changed");
  command.add_flag("--dry-run", flags->steer.dry_run, "Only say how many it would be");
  runs(command, tree, [flags](Session& session) { return retry(session, *flags); });
}

}  // namespace

void add_dead_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "dead", "What ended badly and waits for a person",
                              {"recourse dead list", "recourse dead retry --kind grant-points"});
  const auto flags = std::make_shared<ListFlags>();
  CLI::App& list = add_command(group, "list", "The newest first",
                               {"recourse dead list", "recourse dead list --kind grant-points"});
  add_kind_and_key_flags(list, flags->filter);
  add_page_flags(list, *flags);
  runs(list, tree, [flags](Session& session) {
    return list_tasks(session, "/api/v1/dead", *flags, "No dead letters.");
  });
  add_dead_retry(group, tree);
}

}  // namespace recourse::cli
