#include "cli/overview.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/json_read.h"
#include "cli/kind_rows.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

constexpr double kStepSeconds = 10;

// The last whole step; the newest is still being filled.
const object* last_whole_step(const object& series) {
  const auto& items = array_of(series, "items");
  if (items.empty()) return nullptr;
  return items[items.size() < 2 ? 0 : items.size() - 2].if_object();
}

std::string rates_text(const object& series) {
  const object* step = last_whole_step(series);
  if (step == nullptr) return "nothing happened yet";
  const auto rate = [&](std::string_view name) { return fraction_of(*step, name) / kStepSeconds; };
  const auto p95 = std::chrono::duration<double>(fraction_of(*step, "p95_seconds"));
  return fmt::format(
      "per second: {:.1f} submitted, {:.1f} succeeded, {:.1f} retried, {:.1f} ended "
      "badly; 95% within {}",
      rate("submitted"), rate("succeeded"), rate("retried"), rate("ended_badly"),
      length_of(std::chrono::duration_cast<Duration>(p95)));
}

std::string states_text(const object& states, const Colors& colors) {
  std::string text = fmt::format("{} pending, {} running, {} paused", number_of(states, "pending"),
                                 number_of(states, "running"), number_of(states, "paused"));
  const auto bad = number_of(states, "dead") + number_of(states, "failed");
  const std::string bad_text = fmt::format("{} dead", bad);
  return text + ", " + (bad > 0 ? colors.red(bad_text) : bad_text) +
         fmt::format(", {} succeeded", number_of(states, "succeeded"));
}

}  // namespace

std::string overview_text(const Overview& overview, std::optional<std::size_t> width,
                          const Colors& colors) {
  const object& node = object_of(overview.stats, "node");
  std::string text =
      fmt::format("{}  {}  {} of {} threads busy, {} held\n", colors.bold(overview.server),
                  flag_of(node, "live") ? colors.green("live") : colors.red("no live heartbeat"),
                  number_of(node, "busy_threads"), number_of(node, "threads"),
                  counted(number_of(node, "held_tasks"), "task"));
  text += states_text(object_of(overview.stats, "states"), colors) + "\n";
  text += rates_text(overview.series) + "\n\n";
  return text + kind_table(overview.kinds).render(width, colors);
}

}  // namespace recourse::cli
