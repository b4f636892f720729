#include "cli/task_page.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/table.h"
#include "cli/task_rows.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

std::string line(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format("  {:<12} {}\n", name, printable(value));
}

std::string moment_text(const object& from, std::string_view name, TimePoint now) {
  const auto time = time_of(from, name);
  if (!time) return {};
  return fmt::format("{}  ({})", exact(*time), relative(*time, now));
}

std::string keys_text(const object& keys) {
  std::string text;
  for (const auto& [name, value] : keys) {
    if (!text.empty()) text += ", ";
    text += std::string(name) + "=" + (value.is_string() ? std::string(value.get_string()) : "");
  }
  return text;
}

std::string tries_text(const object& task) {
  std::string text = fmt::format("{} ({} of {} retries used)", number_of(task, "attempts"),
                                 number_of(task, "retries"), number_of(task, "max_retries"));
  if (const auto episode = number_of(task, "episode"); episode > 1) {
    text += fmt::format(", episode {}", episode);
  }
  return text;
}

std::string facts_of(const object& task, TimePoint now) {
  const bool waits = text_of(task, "state") == "pending";
  std::string text = line("attempts", tries_text(task));
  text += line("created", moment_text(task, "created_at", now));
  if (waits) text += line("due", moment_text(task, "due_at", now));
  text += line("started", moment_text(task, "started_at", now));
  text += line("ended", moment_text(task, "ended_at", now));
  text += line("deadline", moment_text(task, "deadline", now));
  text += line("owner", text_of(task, "owner"));
  text += line("asked for", text_of(task, "requested"));
  text += line("tenant", text_of(task, "tenant"));
  text += line("unique key", text_of(task, "unique_key"));
  text += line("search keys", keys_text(object_of(task, "search_keys")));
  text += line("last error", error_text(object_of(task, "last_error")));
  text += line("payload", text_of(task, "payload"));
  text += line("payload b64", text_of(task, "payload_base64"));
  return text;
}

std::string took_text(const object& attempt) {
  const auto from = time_of(attempt, "started_at");
  const auto to = time_of(attempt, "ended_at");
  return from && to ? length_of(*to - *from) : std::string();
}

Table attempt_table(const boost::json::array& attempts, TimePoint now) {
  Table table({{.title = "ATTEMPT", .align = Align::kRight},
               {.title = "ENDED"},
               {.title = "TOOK"},
               {.title = "DECISION"},
               {.title = "ERROR", .may_shrink = true}});
  for (const auto& item : attempts) {
    const auto* attempt = item.if_object();
    if (attempt == nullptr) continue;
    const auto ended = time_of(*attempt, "ended_at");
    table.add_texts({fmt::format("{}", number_of(*attempt, "number")),
                     ended ? relative(*ended, now) : "", took_text(*attempt),
                     text_of(*attempt, "decision"), error_text(object_of(*attempt, "error"))});
  }
  return table;
}

Table note_table(const boost::json::array& notes, TimePoint now) {
  Table table({{.title = "ATTEMPT", .align = Align::kRight},
               {.title = "SAID"},
               {.title = "DONE", .align = Align::kRight},
               {.title = "NOTE", .may_shrink = true}});
  for (const auto& item : notes) {
    const auto* note = item.if_object();
    if (note == nullptr) continue;
    const auto at = time_of(*note, "at");
    const std::string progress = note->contains("progress")
                                     ? fmt::format("{:.0f}%", fraction_of(*note, "progress") * 100)
                                     : std::string();
    table.add_texts({fmt::format("{}", number_of(*note, "attempt")), at ? relative(*at, now) : "",
                     progress, text_of(*note, "text")});
  }
  return table;
}

Table task_audit_table(const boost::json::array& audit, TimePoint now) {
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

}  // namespace

std::string task_page(const TaskFacts& facts, TimePoint now, std::optional<std::size_t> width,
                      const Colors& colors) {
  const std::string state = text_of(facts.task, "state");
  const Style style = style_of_state(state);
  std::string page = fmt::format("{}  {}  {}\n", colors.bold(text_of(facts.task, "id")),
                                 printable(text_of(facts.task, "kind")),
                                 style == nullptr ? state : (colors.*style)(state));
  page += line("now", facts.explanation);
  page += facts_of(facts.task, now);
  for (const Table& table : {attempt_table(facts.attempts, now), note_table(facts.notes, now),
                             task_audit_table(facts.audit, now)}) {
    if (table.rows() > 0) page += "\n" + table.render(width, colors);
  }
  return page;
}

}  // namespace recourse::cli
