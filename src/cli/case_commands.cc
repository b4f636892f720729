// case list, show, take, give-back, note: who looks after what waits for a person.
#include <fmt/format.h>

#include <memory>

#include "base/duration_text.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "cli/case_rows.h"
#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/steer.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

using boost::json::object;

std::string case_path(const std::string& id, std::string_view verb = {}) {
  return fmt::format("/api/v1/tasks/{}/case{}{}", percent_encoded(id), verb.empty() ? "" : "/",
                     verb);
}

struct CaseListFlags {
  ListFlags list = {};
  std::string assignee = {};
  bool mine = false;
  bool unassigned = false;
};

ExitCode list_cases(Session& session, CaseListFlags flags) {
  if (flags.mine) {
    const auto me = session.get("/api/v1/whoami");
    if (!me) return session.exit_code();
    flags.assignee = text_of(*me, "name");
  }
  if (flags.unassigned) flags.assignee = "none";
  if (!flags.assignee.empty()) flags.list.more.emplace_back("assignee", flags.assignee);
  const std::string none = flags.assignee.empty()
                               ? "No task waits for a person (guarded rows that do: recourse "
                                 "guard watch)."
                           : flags.unassigned ? "Nothing waits that nobody has taken."
                                              : flags.assignee + " has no cases.";
  return list_pages(session, "/api/v1/cases", flags.list, case_table, none);
}

ExitCode show_case(Session& session, const std::string& id) {
  const auto one = session.get(case_path(id));
  if (!one) return session.exit_code();
  if (session.flags().json) {
    session.print(*one);
    return ExitCode::kOk;
  }
  const auto audit = session.get("/api/v1/tasks/" + percent_encoded(id) + "/audit");
  if (!audit) return session.exit_code();
  session.terminal().out << case_page(*one, array_of(*audit, "items"), session.now(),
                                      session.terminal().out_width(), session.colors());
  return ExitCode::kOk;
}

// What is said of each that was changed.
using Said = std::string (*)(const object& one, TimePoint now);

std::string said_of_take(const object& one, TimePoint now) {
  const bool again = time_of(one, "remind_at").has_value();
  return fmt::format("{} is with {}; {}", text_of(one, "task"), text_of(one, "assignee"),
                     again ? "reminders start again " + next_reminder(one, now)
                           : std::string("nobody is reminded any more"));
}

std::string said_of_giving_back(const object& one, TimePoint) {
  return text_of(one, "task") + " is with nobody; reminders go on";
}

std::string said_of_note(const object& one, TimePoint) {
  return text_of(one, "task") + ": the note is in its audit";
}

// One after the other; what is refused is said, and the others are done all the same.
ExitCode change_cases(Session& session, const std::vector<std::string>& given,
                      std::string_view verb, const object& body, Said said) {
  const std::vector<std::string> ids = read_ids(given, session.terminal().in);
  const std::string text = boost::json::serialize(body);
  boost::json::array done;
  std::size_t refused = 0;
  ExitCode first = ExitCode::kOk;
  for (const std::string& id : ids) {
    const auto one = session.call(http::Method::kPost, case_path(id, verb), text);
    if (one) {
      done.emplace_back(*one);
      session.say(said(*one, session.now()));
      continue;
    }
    if (refused++ == 0) first = session.exit_code();
    // The next would hear the same.
    if (session.exit_code() == ExitCode::kDown || session.exit_code() == ExitCode::kAuth) break;
  }
  if (session.flags().json && ids.size() == 1 && !done.empty()) {
    session.print(done.front());
  } else if (session.flags().json) {
    session.print(object{{"items", done}, {"refused", ids.size() - done.size()}});
  }
  if (ids.size() > 1) {
    session.say(fmt::format("{} changed, {} not", done.size(), ids.size() - done.size()));
  }
  if (refused == 0) return ExitCode::kOk;
  return done.empty() ? first : ExitCode::kPartlyDone;
}

struct ChangeFlags {
  std::vector<std::string> ids = {};
  std::string assignee = {}, due = {}, note = {};
};

ExitCode take_cases(Session& session, const ChangeFlags& flags) {
  object body;
  if (!flags.assignee.empty()) body["assignee"] = flags.assignee;
  if (!flags.note.empty()) body["note"] = flags.note;
  if (parse_duration("--due", flags.due)) {
    body["due_in"] = flags.due;
  } else if (parse_rfc3339("--due", flags.due)) {
    body["due_at"] = flags.due;
  } else if (!flags.due.empty()) {
    return session.complain(ExitCode::kUsage,
                            fmt::format("--due {} is neither a duration such as 2h nor a time such "
                                        "as 2026-11-16T09:15:00Z",
                                        shown(flags.due)));
  }
  return change_cases(session, flags.ids, "take", body, said_of_take);
}

ExitCode give_cases_back(Session& session, const ChangeFlags& flags) {
  object body;
  if (!flags.note.empty()) body["note"] = flags.note;
  return change_cases(session, flags.ids, "give-back", body, said_of_giving_back);
}

ExitCode note_case(Session& session, const ChangeFlags& flags) {
  return change_cases(session, flags.ids, "note", object{{"note", flags.note}}, said_of_note);
}

void add_ids(CLI::App& command, ChangeFlags& flags) {
  command.add_option("ids", flags.ids, "Which tasks; - reads them from standard input")
      ->required()
      ->type_name("ID...");
}

void add_case_list(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<CaseListFlags>();
  CLI::App& list = add_command(group, "list", "What waits for a person, the oldest first",
                               {"recourse case list --unassigned", "recourse case list --mine",
                                "recourse case list --assignee alice --json"});
  auto* name = list.add_option("--assignee", flags->assignee, "Those of this person");
  name->type_name("NAME");
  auto* mine = list.add_flag("--mine", flags->mine, "Those of the token's holder");
  auto* unassigned = list.add_flag("--unassigned", flags->unassigned, "Those that nobody has");
  name->excludes(mine)->excludes(unassigned);
  mine->excludes(unassigned);
  add_page_flags(list, flags->list);
  runs(list, tree, [flags](Session& session) { return list_cases(session, *flags); });
}

void add_case_changes(CLI::App& group, const Tree& tree) {
  const auto take = std::make_shared<ChangeFlags>();
  CLI::App& taking =
      add_command(group, "take", "Look after cases, or hand them to somebody; reminders stop",
                  {"recourse case take tsk_01J... --due 2h --note 'asks the bank'",
                   "recourse case take tsk_01J... --for alice",
                   "recourse case list --unassigned -q | recourse case take -"});
  add_ids(taking, *take);
  taking.add_option("--for", take->assignee, "Who looks after them (default: you)")
      ->type_name("NAME");
  taking.add_option("--due", take->due, "When reminders start again: 2h, or a time")
      ->type_name("WHEN");
  taking.add_option("--note", take->note, "For the audit")->type_name("TEXT");
  runs(taking, tree, [take](Session& session) { return take_cases(session, *take); });

  const auto back = std::make_shared<ChangeFlags>();
  CLI::App& giving = add_command(group, "give-back", "Look after cases no more; reminders go on",
                                 {"recourse case give-back tsk_01J... --note 'on leave'"});
  add_ids(giving, *back);
  giving.add_option("--note", back->note, "For the audit")->type_name("TEXT");
  runs(giving, tree, [back](Session& session) { return give_cases_back(session, *back); });

  const auto note = std::make_shared<ChangeFlags>();
  CLI::App& noting = add_command(group, "note", "Write down what is known of a case",
                                 {"recourse case note tsk_01J... 'the bank answers tomorrow'"});
  note->ids.emplace_back();
  noting.add_option("id", note->ids.front(), "Which task")->required()->type_name("ID");
  noting.add_option("text", note->note, "What is known")->required()->type_name("TEXT");
  runs(noting, tree, [note](Session& session) { return note_case(session, *note); });
}

}  // namespace

void add_case_commands(const Tree& tree) {
  CLI::App& group =
      add_group(tree.program, "case", "Who looks after what waits for a person",
                {"recourse case list --unassigned", "recourse case take tsk_01J... --due 2h",
                 "recourse case note tsk_01J... 'the bank answers tomorrow'"});
  add_case_list(group, tree);
  const auto id = std::make_shared<std::string>();
  CLI::App& one = add_command(group, "show", "A case, and what was done about it",
                              {"recourse case show tsk_01J..."});
  one.add_option("id", *id, "Which task")->required()->type_name("ID");
  runs(one, tree, [id](Session& session) { return show_case(session, *id); });
  add_case_changes(group, tree);
}

}  // namespace recourse::cli
