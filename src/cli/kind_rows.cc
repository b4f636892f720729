#include "cli/kind_rows.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

// What a person should know first.
Cell condition_of(const object& kind) {
  if (flag_of(kind, "paused")) return {"paused", &Colors::yellow};
  if (!flag_of(kind, "handled")) return {"no handler", &Colors::red};
  const std::string breaker = text_of(object_of(kind, "lane"), "breaker");
  if (breaker == "open") return {"breaker open", &Colors::red};
  if (breaker.empty() || breaker == "closed") return {"ok", &Colors::green};
  return {"breaker " + breaker, &Colors::yellow};
}

std::string count_text(const object& counts, std::string_view state) {
  return fmt::format("{}", number_of(counts, state));
}

Cell bad_cell(const object& counts) {
  const auto bad = number_of(counts, "dead") + number_of(counts, "failed");
  return {fmt::format("{}", bad), bad > 0 ? &Colors::red : nullptr};
}

}  // namespace

Table kind_table(const boost::json::array& kinds) {
  Table table({{.title = "KIND"},
               {.title = "TYPE"},
               {.title = "CONDITION"},
               {.title = "PENDING", .align = Align::kRight},
               {.title = "RUNNING", .align = Align::kRight},
               {.title = "DEAD", .align = Align::kRight},
               {.title = "SUCCEEDED", .align = Align::kRight},
               {.title = "TARGET", .may_shrink = true, .leaves = 1}});
  for (const auto& item : kinds) {
    const auto* kind = item.if_object();
    if (kind == nullptr) continue;
    const object& counts = object_of(*kind, "counts");
    table.add({{text_of(*kind, "name")},
               {text_of(*kind, "type")},
               condition_of(*kind),
               {count_text(counts, "pending")},
               {count_text(counts, "running")},
               bad_cell(counts),
               {count_text(counts, "succeeded")},
               {text_of(*kind, "target")}});
  }
  return table;
}

std::string kind_page(const object& kind, TimePoint now, const Colors& colors) {
  const Cell condition = condition_of(kind);
  std::string page = fmt::format("{}  {}\n", colors.bold(printable(text_of(kind, "name"))),
                                 (colors.*condition.style)(condition.text));
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) page += fmt::format("  {:<12} {}\n", name, printable(value));
  };
  line("type", text_of(kind, "type"));
  line("target", text_of(kind, "target"));
  line("timeout", text_of(kind, "timeout"));
  if (kind.contains("max_retries")) line("retries", count_text(kind, "max_retries"));
  for (const auto& [state, count] : object_of(kind, "counts")) {
    (void)count;
    line(state, count_text(object_of(kind, "counts"), state));
  }
  const object& lane = object_of(kind, "lane");
  if (!lane.empty()) {
    line("on this node",
         fmt::format("{} running, {} queued, breaker {}", number_of(lane, "running"),
                     number_of(lane, "queued"), text_of(lane, "breaker")));
  }
  const object& backlog = object_of(kind, "backlog");
  std::string due =
      fmt::format("{}{}", flag_of(backlog, "more") ? "more than " : "", number_of(backlog, "due"));
  if (const auto oldest = time_of(backlog, "oldest_due_at")) {
    due += fmt::format(", the oldest since {}", relative(*oldest, now));
  }
  line("due now", due);
  return page;
}

}  // namespace recourse::cli
