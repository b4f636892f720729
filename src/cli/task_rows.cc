#include "cli/task_rows.h"

#include <fmt/format.h>

#include "cli/json_read.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

// The moment that matters in this state.
std::string when_text(const boost::json::object& task, TimePoint now) {
  if (const auto ended = time_of(task, "ended_at")) return relative(*ended, now);
  const std::string state = text_of(task, "state");
  if (state == "pending" || state == "running") {
    if (const auto due = time_of(task, "due_at")) return "due " + relative(*due, now);
  }
  if (const auto created = time_of(task, "created_at")) return relative(*created, now);
  return {};
}

}  // namespace

Style style_of_state(std::string_view state) {
  if (state == "dead" || state == "failed") return &Colors::red;
  if (state == "succeeded" || state == "resolved") return &Colors::green;
  if (state == "paused") return &Colors::yellow;
  if (state == "running") return &Colors::cyan;
  if (state == "cancelled" || state == "ignored") return &Colors::dim;
  return nullptr;
}

std::string state_phrase(std::string_view state) {
  const bool has = state == "succeeded" || state == "failed";
  return fmt::format("{} {}", has ? "has" : "is", state);
}

Table task_table(const boost::json::array& tasks, TimePoint now) {
  Table table({{.title = "ID"},
               {.title = "KIND", .may_shrink = true},
               {.title = "STATE"},
               {.title = "TRIES", .align = Align::kRight},
               {.title = "WHEN"},
               {.title = "LAST ERROR", .may_shrink = true}});
  for (const auto& item : tasks) {
    const auto* task = item.if_object();
    if (task == nullptr) continue;
    const std::string state = text_of(*task, "state");
    table.add({{text_of(*task, "id")},
               {text_of(*task, "kind")},
               {state, style_of_state(state)},
               {fmt::format("{}", number_of(*task, "attempts"))},
               {when_text(*task, now)},
               {error_text(object_of(*task, "last_error"))}});
  }
  return table;
}

}  // namespace recourse::cli
