// node list, stats: the whole.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/task_rows.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

constexpr std::array kStates{"pending",   "running",   "paused",   "dead",   "failed",
                             "succeeded", "cancelled", "resolved", "ignored"};

std::string kinds_text(const object& node) {
  std::vector<std::string> names;
  for (const auto& kind : array_of(node, "kinds")) {
    if (kind.is_string()) names.emplace_back(kind.get_string());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

ExitCode list_nodes(Session& session) {
  const Table table({{.title = "ID"},
                     {.title = "NAME", .may_shrink = true},
                     {.title = "STATE"},
                     {.title = "STARTED"},
                     {.title = "HEARD OF"},
                     {.title = "KINDS", .may_shrink = true}});
  return list_few(session, "/api/v1/nodes", table, [&](const object& node, Table& rows) {
    const auto started = time_of(node, "started_at");
    const auto beat = time_of(node, "last_heartbeat_at");
    const std::string state = text_of(node, "state");
    rows.add({{text_of(node, "id")},
              {text_of(node, "name") + (flag_of(node, "is_this") ? " (this)" : "")},
              {state, state == "live" ? &Colors::green : &Colors::red},
              {started ? relative(*started, session.now()) : ""},
              {beat ? relative(*beat, session.now()) : ""},
              {kinds_text(node)}});
  });
}

// Only states that something is in.
Table stats_table(const object& stats) {
  const object& states = object_of(stats, "states");
  std::vector<std::string_view> shown;
  for (const char* state : kStates) {
    if (number_of(states, state) != 0) shown.emplace_back(state);
  }
  std::vector<Column> columns{{.title = "KIND", .may_shrink = true}};
  for (const std::string_view state : shown) {
    columns.push_back({.title = std::string(state), .align = Align::kRight});
  }
  Table table(std::move(columns));
  const auto add = [&](const std::string& name, const object& counts) {
    std::vector<Cell> cells{{name}};
    for (const std::string_view state : shown) {
      const auto count = number_of(counts, state);
      cells.push_back({fmt::format("{}", count), count == 0 ? nullptr : style_of_state(state)});
    }
    table.add(std::move(cells));
  };
  const object& kinds = object_of(stats, "kinds");
  for (const auto& [name, counts] : kinds) {
    if (counts.is_object()) add(std::string(name), counts.get_object());
  }
  if (kinds.size() > 1) add("all", states);
  return table;
}

ExitCode stats(Session& session) {
  const auto answer = session.get("/api/v1/stats");
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  const Table table = stats_table(*answer);
  session.print(table);
  if (table.rows() == 0) session.say("No tasks yet.");
  const object& node = object_of(*answer, "node");
  session.say(fmt::format("This node is {}: {} held, {} of {} threads busy, claims {} at once.",
                          flag_of(node, "stopping") ? "stopping"
                          : flag_of(node, "live")   ? "live"
                                                    : "without a live heartbeat",
                          counted(number_of(node, "held_tasks"), "task"),
                          number_of(node, "busy_threads"), number_of(node, "threads"),
                          number_of(node, "claim_batch")));
  return ExitCode::kOk;
}

}  // namespace

void add_node_commands(const Tree& tree) {
  CLI::App& group =
      add_group(tree.program, "node", "The processes that run tasks", {"recourse node list"});
  runs(add_command(group, "list", "All of them, the dead ones too", {"recourse node list"}), tree,
       list_nodes);
}

void add_stats_command(const Tree& tree) {
  runs(add_command(tree.program, "stats", "How many tasks are in which state, by kind",
                   {"recourse stats", "recourse stats --json"}),
       tree, stats);
}

}  // namespace recourse::cli
