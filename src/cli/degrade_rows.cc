#include "cli/degrade_rows.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/task_rows.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

std::string retries_text(const boost::json::object& record) {
  return fmt::format("{} of {}", number_of(record, "retries"), number_of(record, "max_retries"));
}

// What went wrong before is over then.
bool is_completed(const boost::json::object& record) {
  return text_of(record, "status") == "COMPLETED";
}

// The last error of what is made good; nothing where it is only the reason, which is told anyhow.
std::string earlier_error(const boost::json::object& record) {
  const std::string error = text_of(record, "last_error");
  return error == text_of(record, "failure_reason") ? std::string() : error;
}

std::string at_text(const boost::json::object& record, std::string_view name, TimePoint now) {
  const auto at = time_of(record, name);
  return at ? fmt::format("{}  ({})", exact(*at), relative(*at, now)) : std::string();
}

}  // namespace

Table failure_table(const boost::json::array& records, TimePoint now) {
  Table table({{.title = "ID"},
               {.title = "KIND", .may_shrink = true},
               {.title = "STATUS"},
               {.title = "MEMBER", .leaves = 2},
               {.title = "RELATED", .leaves = 3},
               {.title = "TYPE", .may_shrink = true, .leaves = 4},
               {.title = "FAILED"},
               {.title = "TRIES", .align = Align::kRight, .leaves = 1},
               {.title = "LAST ERROR", .may_shrink = true}});
  for (const auto& item : records) {
    const auto* record = item.if_object();
    if (record == nullptr) continue;
    const auto failed = time_of(*record, "failed_at");
    table.add(
        {{text_of(*record, "id")},
         {text_of(*record, "kind")},
         {text_of(*record, "status"), style_of_state(text_of(*record, "state"))},
         {text_of(*record, "member")},
         {text_of(*record, "related_id")},
         {text_of(*record, "type")},
         {failed ? relative(*failed, now) : ""},
         {fmt::format("{}/{}", number_of(*record, "retries"), number_of(*record, "max_retries"))},
         {is_completed(*record) ? "" : text_of(*record, "last_error")}});
  }
  return table;
}

std::string failure_page(const boost::json::object& record, TimePoint now, const Colors& colors) {
  const Style style = style_of_state(text_of(record, "state"));
  const std::string status = text_of(record, "status");
  std::string page = fmt::format("{}  {}  {}\n", colors.bold(text_of(record, "id")),
                                 printable(text_of(record, "kind")),
                                 style == nullptr ? status : (colors.*style)(status));
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) page += fmt::format("  {:<12} {}\n", name, printable(value));
  };
  line("member", text_of(record, "member"));
  line("related id", text_of(record, "related_id"));
  line("type", text_of(record, "type"));
  if (record.contains("amount") && record.at("amount").is_int64()) {
    line("amount", fmt::format("{}", number_of(record, "amount")));
  }
  line("remark", text_of(record, "remark"));
  line("expires", at_text(record, "expires_at", now));
  line("tenant", text_of(record, "tenant"));
  line("failed", at_text(record, "failed_at", now));
  line("reason", text_of(record, "failure_reason"));
  line("retries", retries_text(record));
  line("last retry", at_text(record, "last_retry_at", now));
  if (is_completed(record)) {
    line("error before", earlier_error(record));
  } else {
    line("last error", text_of(record, "last_error"));
  }
  line("next retry", at_text(record, "next_retry_at", now));
  line("ended", at_text(record, "ended_at", now));
  return page;
}

std::string summary_page(const boost::json::object& summary, TimePoint now,
                         std::optional<std::size_t> width, const Colors& colors) {
  std::string page;
  for (const auto& [status, count] : object_of(summary, "counts")) {
    page += fmt::format("{:<10} {}\n", std::string_view(status),
                        grouped(static_cast<std::size_t>(count.to_number<std::int64_t>())));
  }
  page += fmt::format("{:<10} {} bytes wait for the store\n", "spool",
                      grouped(static_cast<std::size_t>(number_of(summary, "spooled_bytes"))));
  const auto add = [&](std::string_view title, std::string_view name) {
    const Table table = failure_table(array_of(summary, name), now);
    if (table.rows() == 0) return;
    page += fmt::format("\n{}\n{}", colors.bold(title), table.render(width, colors));
  };
  add("Newest that failed", "newest_failed");
  add("Most retried", "most_retried");
  return page;
}

}  // namespace recourse::cli
