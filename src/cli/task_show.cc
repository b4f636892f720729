// task show, task explain.
#include <memory>

#include "cli/commands.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/task_page.h"
#include "cli/task_rows.h"
#include "cli/url_text.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

ExitCode show_task(Session& session, const std::string& id) {
  const std::string path = "/api/v1/tasks/" + percent_encoded(id);
  TaskFacts facts;
  auto task = session.get(path);
  if (!task) return session.exit_code();
  facts.task = *std::move(task);
  const auto read = [&](std::string_view part, boost::json::array& items) {
    auto answer = session.get(path + std::string(part));
    if (answer) items = array_of(*answer, "items");
    return answer.has_value();
  };
  if (!read("/attempts", facts.attempts) || !read("/notes", facts.notes) ||
      !read("/audit", facts.audit)) {
    return session.exit_code();
  }
  if (!time_of(facts.task, "ended_at")) {
    const auto why = session.get(path + "/explain");
    if (!why) return session.exit_code();
    facts.explanation = text_of(*why, "explanation");
  }
  if (session.flags().json) {
    session.print(boost::json::object{{"task", facts.task},
                                      {"attempts", facts.attempts},
                                      {"notes", facts.notes},
                                      {"audit", facts.audit},
                                      {"explanation", facts.explanation}});
  } else {
    session.terminal().out << task_page(facts, session.now(), session.terminal().out_width(),
                                        session.colors());
  }
  return ExitCode::kOk;
}

ExitCode explain(Session& session, const std::string& id) {
  const auto answer = session.get("/api/v1/tasks/" + percent_encoded(id) + "/explain");
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  std::ostream& out = session.terminal().out;
  out << text_of(*answer, "id") << " " << state_phrase(text_of(*answer, "state")) << ": "
      << printable(text_of(*answer, "explanation")) << '\n';
  if (const auto until = time_of(*answer, "until")) out << "until " << exact(*until) << '\n';
  return ExitCode::kOk;
}

void add_one(CLI::App& command, const Tree& tree,
             ExitCode (*run)(Session& session, const std::string& id)) {
  const auto id = std::make_shared<std::string>();
  command.add_option("id", *id, "Which")->required()->type_name("ID");
  runs(command, tree, [id, run](Session& session) { return run(session, *id); });
}

}  // namespace

void add_show(CLI::App& group, const Tree& tree) {
  add_one(add_command(group, "show", "A task with its attempts, notes and audit",
                      {"recourse task show tsk_01J...", "recourse task show tsk_01J... --json"}),
          tree, show_task);
}

void add_explain(CLI::App& group, const Tree& tree) {
  add_one(add_command(group, "explain", "Why a task is where it is, and what it waits for",
                      {"recourse task explain tsk_01J..."}),
          tree, explain);
}

}  // namespace recourse::cli
