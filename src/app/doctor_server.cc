#include "app/doctor_server.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/json_read.h"

namespace recourse::app {
namespace {

using boost::json::object;
using cli::number_of;
using cli::text_of;

constexpr Duration kHeartbeatMax = std::chrono::seconds(60);

void examine_nodes(cli::Session& session, Findings& findings) {
  const auto nodes = session.try_get("/api/v1/nodes");
  if (!nodes) return;
  int live = 0;
  for (const auto& item : cli::array_of(*nodes, "items")) {
    const auto* node = item.if_object();
    if (node == nullptr || text_of(*node, "state") != "live") continue;
    ++live;
    // Heartbeats carry the store's time: one far from ours tells of clocks that differ.
    const auto beat = cli::time_of(*node, "last_heartbeat_at");
    const Duration distance = beat ? session.now() - *beat : Duration::zero();
    if (distance > kHeartbeatMax || distance < -kHeartbeatMax) {
      findings.doubtful("clock",
                        fmt::format("node {} was heard of {} s from now", text_of(*node, "name"),
                                    std::chrono::floor<std::chrono::seconds>(distance).count()),
                        "let a time server set the clocks of both machines");
    }
  }
  if (live == 0) {
    findings.broken("nodes", "none is live: tasks are taken, and nobody runs them",
                    "see recourse node list, and the log of the server");
  } else {
    findings.fine("nodes", fmt::format("{} live", live));
  }
}

void examine_sources(cli::Session& session, Findings& findings) {
  const auto sources = session.try_get("/api/v1/messages/sources");
  if (!sources) return;
  for (const auto& item : cli::array_of(*sources, "items")) {
    const auto* source = item.if_object();
    if (source == nullptr) continue;
    const std::string about = "message source " + text_of(*source, "name");
    const std::string trouble = text_of(*source, "trouble");
    const bool is_connected = cli::flag_of(*source, "connected");
    if (is_connected && cli::flag_of(*source, "is_full")) {
      findings.doubtful(about, "takes nothing: its kind's backlog has reached backlog-limit",
                        "see what holds up kind " + text_of(*source, "kind"));
    } else if (is_connected && !trouble.empty()) {
      findings.broken(about, "its messages are not recorded: " + trouble,
                      remedy_by_waiting("the server's store", "recourse message sources"));
    } else if (!trouble.empty()) {
      findings.broken(about, "its broker cannot be used: " + trouble,
                      remedy_by_waiting("its broker", "recourse message sources"));
    } else if (!is_connected) {
      findings.doubtful(about, "is not connected yet", "recourse message sources");
    } else {
      findings.fine(about, "connected");
    }
  }
}

std::string waiting(std::int64_t number, std::string_view noun) {
  return counted(number, noun) + (number == 1 ? " waits" : " wait");
}

void examine_kinds(cli::Session& session, Findings& findings) {
  const auto kinds = session.try_get("/api/v1/kinds");
  if (!kinds) return;
  for (const auto& item : cli::array_of(*kinds, "items")) {
    const auto* kind = item.if_object();
    if (kind == nullptr) continue;
    const std::string name = text_of(*kind, "name");
    const object& counts = cli::object_of(*kind, "counts");
    if (cli::flag_of(*kind, "paused")) {
      findings.doubtful("kind " + name, "is paused", "recourse kind resume " + name);
    }
    if (text_of(cli::object_of(*kind, "lane"), "breaker") == "open") {
      findings.doubtful("kind " + name, "its breaker is open: its calls fail",
                        "look at what it calls; recourse kind show " + name);
    }
    const auto pending = number_of(counts, "pending");
    if (!cli::flag_of(*kind, "handled") && pending > 0) {
      findings.doubtful("kind " + name, waiting(pending, "task") + ", and no node declares it",
                        "declare it under kinds:, or cancel them");
    }
    const auto dead = number_of(counts, "dead") + number_of(counts, "failed");
    if (dead > 0) {
      findings.doubtful("kind " + name, waiting(dead, "dead letter") + " for a person",
                        "recourse dead list --kind " + name);
    }
  }
}

// A sick database of somebody's, as the server sees it: from here it may look well.
void examine_guards_there(cli::Session& session, Findings& findings) {
  const auto guards = session.try_get("/api/v1/guards");
  if (!guards) return;
  for (const auto& item : cli::array_of(*guards, "items")) {
    const auto* guard = item.if_object();
    if (guard == nullptr) continue;
    const std::string name = text_of(*guard, "name");
    const std::string error = text_of(*guard, "error");
    if (!error.empty()) {
      findings.broken("guard " + name, "its last scan failed: " + error,
                      remedy_by_waiting("its database", "recourse guard list"));
    }
    // The list's own number may be a minute old.
    const auto report = session.try_get("/api/v1/guards/" + name + "/report");
    const auto rows = report ? number_of(*report, "needs_person") : 0;
    if (rows > 0) {
      findings.doubtful(
          "guard " + name,
          fmt::format("{} for a person, in {}", waiting(rows, "row"), text_of(*guard, "table")),
          fmt::format("recourse guard rows {0} --status 4001; then recourse guard retry {0} ID, or "
                      "guard success {0} ID",
                      name));
    }
  }
}

}  // namespace

void examine_server(cli::Session& session, Findings& findings) {
  const auto stats = session.try_get("/api/v1/stats");
  if (!stats) {
    const bool auth = session.exit_code() == cli::ExitCode::kAuth;
    return findings.broken("server", session.trouble(),
                           auth ? "set RECOURSE_TOKEN, or name a file with --token-file"
                                : "recourse serve, or name another with --server");
  }
  const object& node = cli::object_of(*stats, "node");
  if (cli::flag_of(node, "stopping")) {
    findings.doubtful("server", session.server() + " is stopping", "wait until it is back");
  } else if (!cli::flag_of(node, "live")) {
    findings.broken("server", session.server() + " has no live heartbeat",
                    "look at its store and its log");
  } else {
    findings.fine("server", session.server() + " answers, and its node is live");
  }
  examine_nodes(session, findings);
  examine_kinds(session, findings);
  examine_guards_there(session, findings);
  examine_sources(session, findings);
}

}  // namespace recourse::app
