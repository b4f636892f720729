#include "cli/guard_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

std::string number_text(const object& shape, std::string_view name) {
  return fmt::format("{}", number_of(shape, name));
}

bool has(const object& shape, std::string_view name) {
  const boost::json::value* found = shape.if_contains(name);
  return found != nullptr && !found->is_null();
}

std::string stuck_text(const object& report) {
  if (!has(report, "stuck_seconds")) return "";
  return length_of(std::chrono::seconds(number_of(report, "stuck_seconds")));
}

std::string_view meaning_of_err_status(std::int64_t status) {
  switch (status) {
    case 2000: return "normal";
    case 2001: return "healed by itself";
    case 2002: return "healed by a person";
    case 4000: return "waits for its next retry";
    case 4001: return "needs a person";
    default: return "not one of ours: never touched";
  }
}

std::string_view meaning_of_manual_status(std::int64_t status) {
  switch (status) {
    case 2000: return "somebody was told";
    case 4000: return "telling somebody failed";
    case 4002: return "handled by a person";
    default: return "not one of ours";
  }
}

// The business' status as it stands, empty and missing told apart.
std::string status_text(const object& row) {
  return has(row, "business_status") ? shown(text_of(row, "business_status")) : "NULL";
}

std::string code_text(const object& row, std::string_view name,
                      std::string_view (*meaning)(std::int64_t)) {
  if (!has(row, name)) return "NULL";
  const std::int64_t code = number_of(row, name);
  return fmt::format("{} ({})", code, meaning(code));
}

// Two spaces deep, as wide as a terminal is at least.
std::string in_lines(std::string_view text) {
  constexpr std::size_t kWidth = 78;
  std::string lines;
  std::string line = " ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (line.size() > 1 && line.size() + 1 + word.size() > kWidth) {
      lines += std::exchange(line, " ") + "\n";
    }
    line += fmt::format(" {}", word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + line + "\n";
}

// Against the database's clock: whoever reads it may be an hour off.
std::string moment_text(const object& row, std::string_view name) {
  const auto at = time_of(row, name);
  const auto now = time_of(row, "now");
  if (!at || !now) return "NULL";
  return fmt::format("{}  ({})", exact(*at), relative(*at, *now));
}

}  // namespace

std::string row_id_text(const boost::json::value& id) {
  if (id.is_int64()) return fmt::format("{}", id.as_int64());
  return id.is_string() ? printable(std::string(id.as_string())) : std::string();
}

Table guard_table(const boost::json::array& guards) {
  Table table({{.title = "GUARD"},
               {.title = "TABLE", .may_shrink = true},
               {.title = "WAITING", .align = Align::kRight},
               {.title = "NEED PERSON", .align = Align::kRight},
               {.title = "HEALED", .align = Align::kRight},
               {.title = "FAILED RUNS", .align = Align::kRight},
               {.title = "SCANS", .align = Align::kRight},
               {.title = "STATE"}});
  for (const auto& item : guards) {
    const auto* guard = item.if_object();
    if (guard == nullptr) continue;
    const object& counters = object_of(*guard, "counters");
    const std::int64_t person = number_of(*guard, "needs_person");
    table.add({{text_of(*guard, "name")},
               {text_of(*guard, "table")},
               {number_text(*guard, "waiting")},
               {fmt::format("{}", person), person > 0 ? &Colors::red : nullptr},
               {fmt::format("{}", number_of(counters, "healed_by_scan") +
                                      number_of(counters, "healed_by_retry"))},
               {number_text(counters, "failed")},
               {number_text(counters, "scans")},
               {has(*guard, "error") ? "not ready" : "ok",
                has(*guard, "error") ? &Colors::red : nullptr}});
  }
  return table;
}

Table report_table(const boost::json::array& reports) {
  Table table({{.title = "GUARD"},
               {.title = "TABLE", .may_shrink = true},
               {.title = "WAITING", .align = Align::kRight},
               {.title = "NEED PERSON", .align = Align::kRight},
               {.title = "STUCK FOR"},
               {.title = "UNNOTICED", .align = Align::kRight},
               {.title = "UNMARKED", .align = Align::kRight}});
  for (const auto& item : reports) {
    const auto* report = item.if_object();
    if (report == nullptr) continue;
    const object& drift = object_of(*report, "drift");
    table.add({{text_of(*report, "guard")},
               {text_of(*report, "table")},
               {number_text(*report, "waiting")},
               {number_text(*report, "needs_person")},
               {stuck_text(*report)},
               {number_text(drift, "healed_unnoticed")},
               {number_text(drift, "failed_unmarked")}});
  }
  return table;
}

std::string report_page(const object& report, const Colors& colors) {
  std::string page = fmt::format("{}  table {}\n", colors.bold(text_of(report, "guard")),
                                 text_of(report, "table"));
  const auto line = [&page](std::string_view name, std::string_view value, std::string_view about) {
    page += fmt::format("  {:<18} {:>8}  {}\n", name, value, about);
  };
  line("waiting", number_text(report, "waiting"), "rows that will be retried (4000)");
  line("need a person", number_text(report, "needs_person"),
       "rows that nothing mended (4001): guard rows");
  if (has(report, "stuck_seconds")) {
    page += fmt::format("  {:<18} {}, since {}\n", "the oldest", stuck_text(report),
                        text_of(report, "oldest_error_at"));
  }
  const object& drift = object_of(report, "drift");
  page += colors.bold("drift") + "\n";
  line("healed, unnoticed", number_text(drift, "healed_unnoticed"),
       "succeeded by now; the next scan writes 2001");
  line("failed, unmarked", number_text(drift, "failed_unmarked"),
       "failed, and nobody called mark_abnormal");
  line("neither", number_text(drift, "other_status"),
       "a status that is neither value: not retried");
  return page;
}

Table rows_table(const object& page) {
  Table table({{.title = "ID"},
               {.title = "STATUS", .may_shrink = true},
               {.title = "ERR"},
               {.title = "FIRST ERROR"},
               {.title = "RETRIES", .align = Align::kRight},
               {.title = "NEXT RETRY"},
               {.title = "MESSAGES", .align = Align::kRight}});
  const auto now = time_of(page, "now");
  const auto when = [&](const object& row, std::string_view name) {
    const auto at = time_of(row, name);
    return at && now ? relative(*at, *now) : std::string();
  };
  for (const auto& item : array_of(page, "items")) {
    const auto* row = item.if_object();
    if (row == nullptr || !row->contains("id")) continue;
    const std::int64_t status = number_of(*row, "err_status");
    table.add({{row_id_text(row->at("id"))},
               {status_text(*row)},
               {fmt::format("{}", status), status == 4001 ? &Colors::red : nullptr},
               {when(*row, "err_start_time")},
               {number_text(*row, "err_retry_count")},
               {status == 4000 ? when(*row, "err_next_retry_time") : ""},
               {number_text(*row, "err_manual_notify_count")}});
  }
  return table;
}

std::string row_page(const object& row, const Colors& colors) {
  const std::string id = row.contains("id") ? row_id_text(row.at("id")) : "";
  std::string page = fmt::format("{}  of {}  {}\n", colors.bold(id), text_of(row, "table"),
                                 text_of(row, "standing"));
  page += in_lines(text_of(row, "explanation"));
  const auto line = [&page](std::string_view name, std::string_view value) {
    page += fmt::format("  {:<16} {}\n", name, value);
  };
  line("business status", status_text(row));
  line("err_status", code_text(row, "err_status", meaning_of_err_status));
  line("first error", moment_text(row, "err_start_time"));
  line("retries", number_text(row, "err_retry_count"));
  // Of a row that does not wait it is a claim that is over.
  const bool waits = number_of(row, "err_status") == 4000;
  line("next retry", waits ? moment_text(row, "err_next_retry_time") : "none");
  line("told", code_text(row, "err_submit_manual_status", meaning_of_manual_status));
  line("messages", number_text(row, "err_manual_notify_count"));
  const bool is_reminded_of = number_of(row, "err_status") == 4001;
  line("next reminder", is_reminded_of ? moment_text(row, "err_next_remind_staff_time") : "none");
  if (!has(row, "task")) return page;
  const object& task = object_of(row, "task");
  line("task", fmt::format("{} ({})", text_of(task, "id"), text_of(task, "state")));
  if (has(task, "last_error")) {
    page += colors.bold("last error") + "\n" +
            in_lines(printable(text_of(object_of(task, "last_error"), "message")));
  }
  return page;
}

std::string scan_line(const object& report) {
  return fmt::format(
      "{} healed, {} due ({} handed to the engine), {} given to a person, {} reminded",
      number_of(report, "healed"), number_of(report, "due"), number_of(report, "submitted"),
      number_of(report, "escalated"), number_of(report, "reminders"));
}

}  // namespace recourse::cli
