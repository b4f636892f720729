// bulk list, show, cancel: what was asked of many tasks by a filter. The server works it off, with
// or without somebody who watches.
#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/bulk_watch.h"
#include "cli/commands.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/url_text.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

std::string path_of(const std::string& id) { return "/api/v1/bulk/" + percent_encoded(id); }

std::string since_text(const object& job, TimePoint now) {
  const auto since = time_of(job, "as_of");
  return since ? relative(*since, now) : std::string();
}

ExitCode list_bulk(Session& session) {
  const Table table({{.title = "ID"},
                     {.title = "ACTION"},
                     {.title = "STATE"},
                     {.title = "DONE", .align = Align::kRight},
                     {.title = "ASKED", .align = Align::kRight},
                     {.title = "REFUSED", .align = Align::kRight},
                     {.title = "BEGUN"},
                     {.title = "BY", .may_shrink = true},
                     {.title = "REASON", .may_shrink = true}});
  const auto add = [&](const object& job, Table& rows) {
    const auto count = [&](std::string_view name) {
      return fmt::format("{}", number_of(job, name));
    };
    rows.add_texts({text_of(job, "id"), text_of(job, "action"), text_of(job, "state"),
                    count("done"), count("requested"), count("refused"),
                    since_text(job, session.now()), text_of(job, "by"), text_of(job, "reason")});
  };
  return list_few(session, "/api/v1/bulk", table, add,
                  "No bulk jobs: a task command with --state, --kind or --key begins one.");
}

std::string page_of(const object& job, TimePoint now, const Colors& colors) {
  std::string page = fmt::format("{}  {}  {}\n", colors.bold(text_of(job, "id")),
                                 text_of(job, "action"), text_of(job, "state"));
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) page += fmt::format("  {:<12} {}\n", name, printable(value));
  };
  line("done", counted(number_of(job, "done"), "task"));
  if (const auto asked = number_of(job, "requested"); asked > 0) {
    line("asked for", fmt::format("{} more, of whoever runs them", asked));
  }
  if (const auto refused = number_of(job, "refused"); refused > 0) {
    line("refused", counted(refused, "task"));
  }
  line("begun", since_text(job, now));
  line("by", text_of(job, "by"));
  line("reason", text_of(job, "reason"));
  line("filter", boost::json::serialize(object_of(job, "filter")));
  for (const auto& error : array_of(job, "errors")) {
    if (error.is_string()) line("error", std::string(error.get_string()));
  }
  return page;
}

struct ShowFlags {
  std::string id = {};
  bool wait = false;
};

ExitCode show_bulk(Session& session, const ShowFlags& flags) {
  auto job = session.get(path_of(flags.id));
  if (!job) return session.exit_code();
  if (flags.wait) job = watch_job(session, *std::move(job), "Working", std::nullopt);
  if (!job) return session.exit_code();
  if (session.flags().json) {
    session.print(*job);
  } else {
    session.terminal().out << page_of(*job, session.now(), session.colors());
  }
  return flags.wait ? end_of_job(session, *job) : ExitCode::kOk;
}

ExitCode cancel(Session& session, const std::string& id) {
  const auto job = session.call(http::Method::kPost, path_of(id) + "/cancel", "{}");
  if (!job) return session.exit_code();
  if (session.flags().json) session.print(*job);
  session.say(fmt::format("{} is {}; what is done stays done: {}", id, text_of(*job, "state"),
                          counted(number_of(*job, "done"), "task")));
  return ExitCode::kOk;
}

}  // namespace

void add_bulk_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "bulk",
                              "Jobs that change many tasks: how far they are, and their end",
                              {"recourse bulk list", "recourse bulk show blk_01J... --wait"});
  runs(add_command(group, "list", "Those of the last days", {"recourse bulk list"}), tree,
       list_bulk);

  const auto flags = std::make_shared<ShowFlags>();
  CLI::App& one =
      add_command(group, "show", "How far a job is, and what was refused",
                  {"recourse bulk show blk_01J...", "recourse bulk show blk_01J... --wait"});
  one.add_option("id", flags->id, "Which")->required()->type_name("ID");
  one.add_flag("--wait", flags->wait, "Until it has ended");
  runs(one, tree, [flags](Session& session) { return show_bulk(session, *flags); });

  const auto id = std::make_shared<std::string>();
  CLI::App& end = add_command(group, "cancel", "End a job; what is done stays done",
                              {"recourse bulk cancel blk_01J..."});
  end.add_option("id", *id, "Which")->required()->type_name("ID");
  runs(end, tree, [id](Session& session) { return cancel(session, *id); });
}

}  // namespace recourse::cli
