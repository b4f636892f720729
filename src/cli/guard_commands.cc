// guard list, watch, explain, mark, retry, success, check-user, scan: business tables that heal
// themselves. `guard plan` is the program's own: it opens the database itself.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/display_text.h"
#include "cli/guard_rows.h"
#include "cli/json_read.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

using boost::json::object;

constexpr const char* kGuards = "/api/v1/guards";
// A scan may wait for the one that runs.
constexpr Duration kScanTakes = std::chrono::seconds(40);

struct RowFlags {
  std::string guard = {}, id = {}, user = {};

  [[nodiscard]] std::string path(std::string_view verb = "") const {
    return fmt::format("{}/{}/rows/{}{}", kGuards, percent_encoded(guard), percent_encoded(id),
                       verb);
  }
};

ExitCode list_guards(Session& session) {
  const auto answer = session.get(kGuards);
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  const auto& items = array_of(*answer, "items");
  if (session.flags().quiet) {
    for (const auto& item : items) {
      if (const auto* guard = item.if_object()) {
        session.terminal().out << text_of(*guard, "name") << '\n';
      }
    }
    return ExitCode::kOk;
  }
  session.print(guard_table(items));
  for (const auto& item : items) {
    const auto* guard = item.if_object();
    const std::string error = guard == nullptr ? "" : text_of(*guard, "error");
    if (!error.empty()) session.say(fmt::format("{}: {}", text_of(*guard, "name"), error));
  }
  if (items.empty())
    session.say("No table is guarded: name one under guards: in the configuration.");
  return ExitCode::kOk;
}

struct WatchFlags {
  std::string guard = {}, config = {};
};

// One that cannot be asked, among others that can: its report says why.
object report_of(Session& session, const std::string& name) {
  auto report = session.try_get(fmt::format("{}/{}/report", kGuards, percent_encoded(name)));
  if (report) return *std::move(report);
  return {{"guard", name}, {"error", session.trouble()}};
}

// All reports, or the one that was asked for; empty where that failed and was said.
std::optional<boost::json::array> reports_of_server(Session& session, const std::string& wanted) {
  boost::json::array reports;
  if (!wanted.empty()) {
    auto report = session.get(fmt::format("{}/{}/report", kGuards, percent_encoded(wanted)));
    if (!report) return std::nullopt;
    reports.push_back(*std::move(report));
    return reports;
  }
  const auto answer = session.get(kGuards);
  if (!answer) return std::nullopt;
  for (const auto& item : array_of(*answer, "items")) {
    if (const auto* guard = item.if_object()) {
      reports.push_back(report_of(session, text_of(*guard, "name")));
    }
  }
  return reports;
}

// Says of each that could not be asked why not, and leaves it out.
boost::json::array without_failed(Session& session, const boost::json::array& reports) {
  boost::json::array well;
  for (const auto& report : reports) {
    const object& shape = report.as_object();
    if (!shape.contains("error")) {
      well.push_back(report);
    } else {
      (void)session.complain(ExitCode::kPartlyDone,
                             text_of(shape, "guard") + ": " + text_of(shape, "error"));
    }
  }
  return well;
}

ExitCode show_report(Session& session, const object& report) {
  if (session.flags().json) {
    session.print(report);
  } else {
    session.terminal().out << report_page(report, session.colors());
  }
  return ExitCode::kOk;
}

ExitCode show_reports(Session& session, const boost::json::array& reports) {
  const boost::json::array well = without_failed(session, reports);
  if (session.flags().json) {
    session.print(object{{"items", reports}});
  } else {
    if (!well.empty() || reports.empty()) session.print(report_table(well));
    if (reports.empty()) session.say("No table is guarded.");
  }
  if (well.size() == reports.size()) return ExitCode::kOk;
  return well.empty() ? ExitCode::kDown : ExitCode::kPartlyDone;
}

ExitCode watch(Session& session, const WatchFlags& flags, const GuardReports& alone) {
  const auto show = [&](const boost::json::array& reports) {
    return flags.guard.empty() ? show_reports(session, reports)
                               : show_report(session, reports.front().as_object());
  };
  if (flags.config.empty()) {
    const auto reports = reports_of_server(session, flags.guard);
    return reports ? show(*reports) : session.exit_code();
  }
  const auto reports = alone(flags.config, flags.guard);
  if (!reports) {
    return session.complain(exit_code_of(reports.error().code), reports.error().message);
  }
  if (!flags.guard.empty() && reports->empty()) {
    return session.complain(ExitCode::kNotFound, "there is no guard " + printable(flags.guard) +
                                                     " in this configuration");
  }
  return show(*reports);
}

struct ListRowsFlags {
  std::string guard = {}, status = {};
  int limit = 50;
};

ExitCode list_rows(Session& session, const ListRowsFlags& flags) {
  std::string path =
      fmt::format("{}/{}/rows?limit={}", kGuards, percent_encoded(flags.guard), flags.limit);
  if (!flags.status.empty()) path += "&err_status=" + percent_encoded(flags.status);
  const auto page = session.get(path);
  if (!page) return session.exit_code();
  if (session.flags().json) {
    session.print(*page);
    return ExitCode::kOk;
  }
  const auto& items = array_of(*page, "items");
  if (session.flags().quiet) {
    for (const auto& item : items) {
      session.terminal().out << row_id_text(item.as_object().at("id")) << '\n';
    }
    return ExitCode::kOk;
  }
  session.print(rows_table(*page));
  const std::int64_t total = number_of(*page, "total");
  if (items.empty()) session.say("No row is in trouble.");
  if (std::cmp_less(items.size(), total)) {
    session.say(fmt::format("{} of {}; --limit shows more", items.size(), total));
  }
  return ExitCode::kOk;
}

ExitCode explain_row(Session& session, const RowFlags& flags) {
  const auto row = session.get(flags.path());
  if (!row) return session.exit_code();
  if (session.flags().json) {
    session.print(*row);
  } else {
    session.terminal().out << row_page(*row, session.colors());
  }
  return ExitCode::kOk;
}

ExitCode mark_row(Session& session, const RowFlags& flags) {
  object body;
  if (!flags.user.empty()) body["user"] = flags.user;
  const auto done =
      session.call(http::Method::kPost, flags.path("/abnormal"), boost::json::serialize(body));
  if (!done) return session.exit_code();
  if (session.flags().json) {
    session.print(*done);
    return ExitCode::kOk;
  }
  if (number_of(*done, "err_status") == 4001) {
    session.say(
        fmt::format("{0} already waits for a person; recourse guard retry {1} {0} has it "
                    "tried once more",
                    flags.id, flags.guard));
    return ExitCode::kOk;
  }
  // What comes of it depends on the business status too.
  const auto row = session.get(flags.path());
  if (!row) return session.exit_code();
  const std::string standing = text_of(*row, "standing");
  const bool is_retried = standing == "due" || standing == "later";
  session.say(is_retried
                  ? flags.id + " will be retried"
                  : fmt::format("{} is marked, but {}", flags.id, text_of(*row, "explanation")));
  return ExitCode::kOk;
}

ExitCode retry_row(Session& session, const RowFlags& flags) {
  const auto done = session.call(http::Method::kPost, flags.path("/retry"), "{}");
  if (!done) return session.exit_code();
  if (session.flags().json) session.print(*done);
  session.say(flags.id + " will be retried");
  return ExitCode::kOk;
}

ExitCode succeed_row(Session& session, const RowFlags& flags) {
  const auto done = session.call(http::Method::kPost, flags.path("/success"), "{}");
  if (!done) return session.exit_code();
  if (session.flags().json) session.print(*done);
  session.say(flags.id + " is well: err_status 2002, and the success value");
  return ExitCode::kOk;
}

ExitCode check_user(Session& session, const RowFlags& flags) {
  const auto answer = session.get(fmt::format(
      "{}/{}/users/{}", kGuards, percent_encoded(flags.guard), percent_encoded(flags.user)));
  if (!answer) return session.exit_code();
  const bool may_go_on = flag_of(*answer, "may_go_on");
  if (session.flags().json) {
    session.print(*answer);
  } else {
    for (const auto& id : array_of(*answer, "open_rows")) {
      session.terminal().out << row_id_text(id) << '\n';
    }
  }
  session.say(printable(flags.user) +
              (may_go_on ? " may go on" : " must wait: these rows are in trouble"));
  return may_go_on ? ExitCode::kOk : ExitCode::kConflict;
}

ExitCode scan_now(Session& session, const std::string& guard) {
  const auto report =
      session.call(http::Method::kPost, fmt::format("{}/{}/scan", kGuards, percent_encoded(guard)),
                   "{}", kScanTakes);
  if (!report) return session.exit_code();
  if (session.flags().json) session.print(*report);
  session.say(scan_line(*report));
  return ExitCode::kOk;
}

void add_looks(CLI::App& group, const Tree& tree) {
  runs(add_command(group, "list", "All guards, with what they have done since the server began",
                   {"recourse guard list"}),
       tree, list_guards);
  const auto flags = std::make_shared<WatchFlags>();
  CLI::App& report = add_command(
      group, "watch", "How many rows are stuck, for how long, and what drifted; changes nothing",
      {"recourse guard watch", "recourse guard watch user-bill --json",
       "recourse guard watch --config recourse.yaml"});
  report.add_option("guard", flags->guard, "Which; all where not given")->type_name("GUARD");
  refuse_empty_values(report);
  if (tree.guard_reports) {
    report
        .add_option("-c,--config", flags->config,
                    "Look at the tables of this configuration, without a server")
        ->type_name("FILE");
  }
  runs(report, tree, [flags, alone = tree.guard_reports](Session& session) {
    return watch(session, *flags, alone);
  });
}

CLI::App& add_row_command(CLI::App& group, const std::string& name, const std::string& about,
                          const std::string& example, RowFlags& flags) {
  CLI::App& command = add_command(group, name, about, {example});
  command.add_option("guard", flags.guard, "Which guard")->required()->type_name("GUARD");
  command.add_option("id", flags.id, "Which row")->required()->type_name("ID");
  refuse_empty_values(command);
  return command;
}

void add_row_list(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<ListRowsFlags>();
  CLI::App& rows = add_command(
      group, "rows", "Which rows are in trouble, newest error first",
      {"recourse guard rows user-bill", "recourse guard rows user-bill --status 4001 -q"});
  rows.add_option("guard", flags->guard, "Which guard")->required()->type_name("GUARD");
  rows.add_option("--status", flags->status, "Only those of this err_status, such as 4001")
      ->type_name("CODE");
  rows.add_option("--limit", flags->limit, "So many at most")->capture_default_str();
  refuse_empty_values(rows);
  runs(rows, tree, [flags](Session& session) { return list_rows(session, *flags); });
}

void add_rows(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<RowFlags>();
  runs(add_row_command(group, "explain", "One row, and why it is not retried now",
                       "recourse guard explain user-bill 10", *flags),
       tree, [flags](Session& session) { return explain_row(session, *flags); });
  CLI::App& mark =
      add_row_command(group, "mark", "Say that a row is in trouble, so that it is retried",
                      "recourse guard mark user-bill 10 --user 1000", *flags);
  mark.add_option("--user", flags->user, "Whose it is; written into the row")->type_name("USER");
  runs(mark, tree, [flags](Session& session) { return mark_row(session, *flags); });
  runs(add_row_command(group, "retry", "Have a row that waits for a person (4001) tried once more",
                       "recourse guard retry user-bill 10", *flags),
       tree, [flags](Session& session) { return retry_row(session, *flags); });
  runs(add_row_command(group, "success", "Say that a person has mended a row",
                       "recourse guard success user-bill 10", *flags),
       tree, [flags](Session& session) { return succeed_row(session, *flags); });
}

}  // namespace

void add_guard_commands(const Tree& tree) {
  CLI::App& group = add_group(
      tree.program, "guard", "Business tables whose stuck rows are retried",
      {"recourse guard list", "recourse guard watch", "recourse guard explain user-bill 10"});
  add_looks(group, tree);
  add_row_list(group, tree);
  add_rows(group, tree);

  const auto user = std::make_shared<RowFlags>();
  CLI::App& check = add_command(
      group, "check-user", "Whether a user may go on: prints their rows in trouble, exits with 4",
      {"recourse guard check-user user-bill 1000"});
  check.add_option("guard", user->guard, "Which guard")->required()->type_name("GUARD");
  check.add_option("user", user->user, "Who")->required()->type_name("USER");
  refuse_empty_values(check);
  runs(check, tree, [user](Session& session) { return check_user(session, *user); });

  const auto name = std::make_shared<std::string>();
  CLI::App& scan = add_command(group, "scan", "Scan a table now, not at its next time",
                               {"recourse guard scan user-bill"});
  scan.add_option("guard", *name, "Which")->required()->type_name("GUARD");
  refuse_empty_values(scan);
  runs(scan, tree, [name](Session& session) { return scan_now(session, *name); });
}

}  // namespace recourse::cli
