// kind list, show, pause, resume.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/kind_rows.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

ExitCode list_kinds(Session& session) {
  const auto answer = session.get("/api/v1/kinds");
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  const auto& items = array_of(*answer, "items");
  if (session.flags().quiet) {
    for (const auto& item : items) {
      if (const auto* kind = item.if_object()) {
        session.terminal().out << printable(text_of(*kind, "name")) << '\n';
      }
    }
    return ExitCode::kOk;
  }
  session.print(kind_table(items));
  if (items.empty()) session.say("No kinds yet: declare some under kinds: in the configuration.");
  return ExitCode::kOk;
}

ExitCode show_kind(Session& session, const std::string& name) {
  const auto answer = session.get("/api/v1/kinds/" + percent_encoded(name));
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
  } else {
    session.terminal().out << kind_page(*answer, session.now(), session.colors());
  }
  return ExitCode::kOk;
}

struct PauseFlags {
  std::string name = {};
  std::string reason = {};
};

ExitCode set_pause(Session& session, const PauseFlags& flags, const std::string& verb) {
  const std::string& name = flags.name;
  boost::json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto answer =
      session.call(http::Method::kPost, "/api/v1/kinds/" + percent_encoded(name) + "/" + verb,
                   boost::json::serialize(body));
  if (!answer) return session.exit_code();
  if (session.flags().json) session.print(*answer);
  session.say(verb == "pause" ? name + " is paused: what runs ends, nothing new starts"
                              : name + " goes on");
  if (const std::string warning = text_of(*answer, "warning"); !warning.empty()) {
    session.say("warning: " + warning);
  }
  return ExitCode::kOk;
}

void add_pause(CLI::App& command, const Tree& tree, const std::string& verb) {
  const auto flags = std::make_shared<PauseFlags>();
  command.add_option("kind", flags->name, "Which")->required()->type_name("KIND");
  command.add_option("--reason", flags->reason, "For the audit")->type_name("TEXT");
  runs(command, tree, [flags, verb](Session& session) { return set_pause(session, *flags, verb); });
}

}  // namespace

void add_kind_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "kind", "Sorts of work: what they are, pause, resume",
                              {"recourse kind list", "recourse kind pause grant-points"});
  runs(add_command(group, "list", "All kinds, with what they have to do", {"recourse kind list"}),
       tree, list_kinds);
  const auto name = std::make_shared<std::string>();
  CLI::App& one = add_command(group, "show", "One kind: its target, counts, backlog and breaker",
                              {"recourse kind show grant-points"});
  one.add_option("kind", *name, "Which")->required()->type_name("KIND");
  runs(one, tree, [name](Session& session) { return show_kind(session, *name); });
  add_pause(add_command(group, "pause", "Start nothing more of this kind, on any node",
                        {"recourse kind pause grant-points --reason 'maintenance until ten'"}),
            tree, "pause");
  add_pause(add_command(group, "resume", "Let it go on", {"recourse kind resume grant-points"}),
            tree, "resume");
}

}  // namespace recourse::cli
