#include "cli/case_rows.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/task_rows.h"
#include "cli/when.h"

namespace recourse::cli {

std::string next_reminder(const boost::json::object& one, TimePoint now) {
  const auto at = time_of(one, "remind_at");
  return at ? relative(*at, now) : std::string("no more");
}

Table case_table(const boost::json::array& cases, TimePoint now) {
  Table table({{.title = "TASK"},
               {.title = "KIND", .may_shrink = true},
               {.title = "STATE"},
               {.title = "SINCE"},
               {.title = "TOLD", .align = Align::kRight},
               {.title = "REMINDS"},
               {.title = "WHO", .may_shrink = true},
               {.title = "LAST ERROR", .may_shrink = true}});
  for (const auto& item : cases) {
    const auto* one = item.if_object();
    if (one == nullptr) continue;
    const std::string state = text_of(*one, "state");
    const auto opened = time_of(*one, "opened_at");
    table.add({{text_of(*one, "task")},
               {text_of(*one, "kind")},
               {state, style_of_state(state)},
               {opened ? relative(*opened, now) : ""},
               {fmt::format("{}", number_of(*one, "reminders"))},
               {next_reminder(*one, now)},
               {text_of(*one, "assignee")},
               {error_text(object_of(*one, "last_error"))}});
  }
  return table;
}

std::string case_page(const boost::json::object& one, const boost::json::array& audit,
                      TimePoint now, std::optional<std::size_t> width, const Colors& colors) {
  const std::string state = text_of(one, "state");
  const Style style = style_of_state(state);
  std::string page = fmt::format("{}  {}  {}\n", colors.bold(text_of(one, "task")),
                                 printable(text_of(one, "kind")),
                                 style == nullptr ? state : (colors.*style)(state));
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) page += fmt::format("  {:<12} {}\n", name, printable(value));
  };
  const std::string who = text_of(one, "assignee");
  line("with", who.empty() ? "nobody: recourse case take " + text_of(one, "task") : who);
  if (const auto opened = time_of(one, "opened_at")) {
    line("since", fmt::format("{}  ({})", exact(*opened), relative(*opened, now)));
  }
  line("told",
       fmt::format("{} times, again: {}", number_of(one, "reminders"), next_reminder(one, now)));
  line("tenant", text_of(one, "tenant"));
  line("last error", error_text(object_of(one, "last_error")));
  const Table deeds = deeds_table(audit, now);
  if (deeds.rows() > 0) page += "\n" + deeds.render(width, colors);
  return page;
}

Table deeds_table(const boost::json::array& audit, TimePoint now) {
  Table table({{.title = "WHEN"},
               {.title = "WHO", .may_shrink = true},
               {.title = "DID"},
               {.title = "DETAIL", .may_shrink = true}});
  for (const auto& item : audit) {
    const auto* entry = item.if_object();
    if (entry == nullptr) continue;
    const auto at = time_of(*entry, "at");
    table.add_texts({at ? relative(*at, now) : "", text_of(*entry, "actor"),
                     text_of(*entry, "action"), text_of(*entry, "detail")});
  }
  return table;
}

}  // namespace recourse::cli
