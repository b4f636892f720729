// top: the whole at a glance, again and again on a terminal, once elsewhere.
#include <memory>

#include "base/duration_text.h"
#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/overview.h"
#include "cli/screen.h"

namespace recourse::cli {
namespace {

constexpr Duration kOftenest = std::chrono::milliseconds(100);

std::optional<Overview> look(Session& session) {
  Overview overview{.server = session.server()};
  auto stats = session.try_get("/api/v1/stats");
  if (!stats) return std::nullopt;
  auto series = session.try_get("/api/v1/stats/series");
  if (!series) return std::nullopt;
  const auto kinds = session.try_get("/api/v1/kinds");
  if (!kinds) return std::nullopt;
  overview.stats = *std::move(stats);
  overview.series = *std::move(series);
  overview.kinds = array_of(*kinds, "items");
  return overview;
}

ExitCode once(Session& session) {
  const auto overview = look(session);
  if (!overview) return session.complain(session.exit_code(), session.trouble());
  if (session.flags().json) {
    session.print(boost::json::object{
        {"stats", overview->stats}, {"series", overview->series}, {"kinds", overview->kinds}});
  } else {
    session.terminal().out << overview_text(*overview, session.terminal().out_width(),
                                            session.colors());
  }
  return ExitCode::kOk;
}

ExitCode top(Session& session, const std::string& every_text) {
  const auto every = parse_duration("--every", every_text);
  if (!every) return session.complain(ExitCode::kUsage, every.error().message);
  Terminal& terminal = session.terminal();
  if (!terminal.out_is_terminal || session.flags().json) return once(session);
  auto overview = look(session);
  if (!overview) return session.complain(session.exit_code(), session.trouble());
  Screen screen(terminal);
  while (true) {
    // A server that restarts comes back: the picture waits for it.
    const std::string text = overview
                                 ? overview_text(*overview, terminal.out_width(), session.colors())
                                 : session.colors().red(session.trouble()) + "\n";
    screen.draw(text, "q ends it");
    const auto key = screen.wait(std::max(*every, kOftenest));
    if (key == 'q' || key == 'Q' || key == kEndOfInput) return ExitCode::kOk;
    overview = look(session);
  }
}

}  // namespace

void add_top_command(const Tree& tree) {
  const auto every = std::make_shared<std::string>("1s");
  CLI::App& command = add_command(tree.program, "top", "Kinds, counts, rates and breakers, live",
                                  {"recourse top", "recourse top --every 5s"});
  command.add_option("--every", *every, "How often to look again (default: 1s)")
      ->type_name("DURATION");
  runs(command, tree, [every](Session& session) { return top(session, *every); });
}

}  // namespace recourse::cli
