// task retry, cancel, pause, resume, resolve, ignore.
#include <array>
#include <memory>

#include "cli/commands.h"
#include "cli/steer.h"

namespace recourse::cli {
namespace {

struct Verb {
  Steering steering;
  const char* about;
  const char* example;
};

constexpr std::array kVerbs{
    Verb{{"retry", "Retries", "retried"},
         "Run tasks now: what waits at once, what ended badly from the beginning",
         "recourse task retry --state dead --kind grant-points"},
    Verb{{"cancel", "Cancels", "cancelled", true},
         "End tasks that are not finished",
         "recourse task cancel --kind send-mail --state pending --reason 'wrong list'"},
    Verb{{"pause", "Pauses", "paused"},
         "Let tasks wait until they are resumed",
         "recourse task pause --key customer=acme"},
    Verb{{"resume", "Resumes", "resumed"},
         "Let paused tasks go on",
         "recourse task resume --state paused --key customer=acme"},
    Verb{{"resolve", "Resolves", "resolved", true},
         "Mark dead letters as settled by hand",
         "recourse task resolve tsk_01J... --reason 'paid by hand'"},
    Verb{{"ignore", "Ignores", "ignored", true},
         "Mark dead letters as not worth the trouble",
         "recourse task ignore --state dead --kind send-mail --dry-run"},
};

void add_verb(CLI::App& group, const Tree& tree, const Verb& verb) {
  const auto flags = std::make_shared<SteerFlags>();
  const std::string name(verb.steering.action);
  CLI::App& command =
      add_command(group, name, verb.about,
                  {"recourse task " + name + " tsk_01J...", verb.example,
                   "recourse task list --state dead -q | recourse task " + name + " -"});
  command.add_option("ids", flags->ids, "Which; - reads them from standard input")
      ->type_name("ID...");
  add_filter_flags(command, flags->filter);
  command.add_option("--reason", flags->reason, "For the audit")->type_name("TEXT");
  command.add_flag("-y,--yes", flags->yes, "Do not ask before many are changed");
  command.add_flag("--dry-run", flags->dry_run, "Only say how many it would be");
  runs(command, tree, [flags, steering = verb.steering](Session& session) {
    return steer(session, steering, *flags);
  });
}

}  // namespace

void add_steering(CLI::App& group, const Tree& tree) {
  for (const Verb& verb : kVerbs) add_verb(group, tree, verb);
}

}  // namespace recourse::cli
