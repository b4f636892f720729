// alert list.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

std::string figure_text(const boost::json::object& alert, std::string_view name) {
  const boost::json::value* found = alert.if_contains(name);
  if (found == nullptr || !found->is_number()) return "";
  return fmt::format("{:.6g}", found->to_number<double>());
}

std::string limit_text(const boost::json::object& alert) {
  const std::string least = figure_text(alert, "at_least");
  return least.empty() ? "<= " + figure_text(alert, "at_most") : ">= " + least;
}

ExitCode list_alerts(Session& session) {
  const Table table({{.title = "NAME"},
                     {.title = "NOW"},
                     {.title = "SINCE"},
                     {.title = "FIGURE", .align = Align::kRight},
                     {.title = "LIMIT", .align = Align::kRight},
                     {.title = "NODE", .may_shrink = true, .leaves = 2},
                     {.title = "OF", .may_shrink = true, .leaves = 1}});
  const auto add = [&](const boost::json::object& alert, Table& rows) {
    const boost::json::value* firing = alert.if_contains("firing");
    const bool fires = firing != nullptr && firing->is_bool() && firing->as_bool();
    const auto since = time_of(alert, "since");
    rows.add({{text_of(alert, "name")},
              {fires ? "fires" : "ok", fires ? &Colors::red : &Colors::green},
              {since ? relative(*since, session.now()) : ""},
              {figure_text(alert, "value")},
              {limit_text(alert)},
              {text_of(alert, "node")},
              {text_of(alert, "subject")}});
  };
  return list_few(session, "/api/v1/alerts", table, add,
                  "No alerts: declare some under notify.alerts in the configuration.");
}

}  // namespace

void add_alert_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "alert", "Figures that are watched",
                              {"recourse alert list", "recourse alert list --json"});
  runs(add_command(group, "list", "What is watched, and what fires just now",
                   {"recourse alert list"}),
       tree, list_alerts);
}

}  // namespace recourse::cli
