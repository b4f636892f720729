#include "cli/message_rows.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/task_rows.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

bool has_been_processed(const boost::json::object& record) {
  return text_of(record, "status") == "PROCESSED";
}

std::string told_at(const boost::json::object& record, std::string_view name, TimePoint now) {
  const auto at = time_of(record, name);
  return at ? fmt::format("{}  ({})", exact(*at), relative(*at, now)) : std::string();
}

std::string error_of(const boost::json::object& record) {
  const std::string code = text_of(record, "error_code");
  const std::string error = text_of(record, "error");
  if (code.empty() || error.empty()) return code + error;
  return code + ": " + error;
}

// Nothing of one that has ended: there is none to come.
std::string next_retry(const boost::json::object& record, TimePoint now) {
  const std::string state = text_of(record, "state");
  const auto at = time_of(record, "next_retry_at");
  if (state == "running" && (!at || *at <= now)) return "runs now";
  if (at) return told_at(record, "next_retry_at", now);
  if (state == "paused") return "none while it is paused";
  if (text_of(record, "status") == "PENDING") return "none: it waits for a person";
  return {};
}

std::string delay_text(const boost::json::object& attempt) {
  const auto* delay = attempt.if_contains("retry_delay");
  if (delay == nullptr || !delay->is_int64()) return {};
  return fmt::format("{} ms", delay->as_int64());
}

}  // namespace

Table message_table(const boost::json::array& records, TimePoint now) {
  Table table({{.title = "ID"},
               {.title = "STATUS"},
               {.title = "MESSAGE"},
               {.title = "TOPIC", .may_shrink = true, .leaves = 5},
               {.title = "GROUP", .may_shrink = true, .leaves = 6},
               {.title = "BUSINESS", .leaves = 4},
               {.title = "RECORDED", .leaves = 2},
               {.title = "LEFT", .align = Align::kRight, .leaves = 3},
               {.title = "LAST ERROR", .may_shrink = true, .leaves = 1}});
  for (const auto& item : records) {
    const auto* record = item.if_object();
    if (record == nullptr) continue;
    const auto created = time_of(*record, "created_at");
    table.add({{text_of(*record, "id")},
               {text_of(*record, "status"), style_of_state(text_of(*record, "state"))},
               {text_of(*record, "message_id")},
               {text_of(*record, "topic")},
               {text_of(*record, "group")},
               {text_of(*record, "business_id")},
               {created ? relative(*created, now) : ""},
               {fmt::format("{}/{}", number_of(*record, "retries_left"),
                            number_of(*record, "max_retries"))},
               {has_been_processed(*record) ? "" : error_of(*record)}});
  }
  return table;
}

std::string message_page(const boost::json::object& record, TimePoint now, const Colors& colors) {
  const Style style = style_of_state(text_of(record, "state"));
  const std::string status = text_of(record, "status");
  std::string page = fmt::format("{}  {}  {}\n", colors.bold(text_of(record, "id")),
                                 printable(text_of(record, "kind")),
                                 style == nullptr ? status : (colors.*style)(status));
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) page += fmt::format("  {:<12} {}\n", name, printable(value));
  };
  line("message", text_of(record, "message_id"));
  line("source", text_of(record, "source"));
  line("topic", text_of(record, "topic"));
  line("group", text_of(record, "group"));
  line("tags", text_of(record, "tags"));
  line("key", text_of(record, "key"));
  line("business", text_of(record, "business_id"));
  line("tenant", text_of(record, "tenant"));
  line("published", told_at(record, "published_at", now));
  line("recorded", told_at(record, "created_at", now));
  line("retries left", fmt::format("{} of {}", number_of(record, "retries_left"),
                                   number_of(record, "max_retries")));
  line("attempts", fmt::format("{}", number_of(record, "attempts")));
  line(has_been_processed(record) ? "error before" : "last error", error_of(record));
  line("next retry", next_retry(record, now));
  line("updated", told_at(record, "updated_at", now));
  line("ended", told_at(record, "ended_at", now));
  line("body", text_of(record, "body"));
  line("body, base 64", text_of(record, "body_base64"));
  return page;
}

Table message_attempts(const boost::json::array& attempts, TimePoint now) {
  Table table({{.title = "ATTEMPT", .align = Align::kRight},
               {.title = "WHEN"},
               {.title = "RESULT"},
               {.title = "CODE", .may_shrink = true},
               {.title = "EXCEPTION", .may_shrink = true, .leaves = 2},
               {.title = "CONSUMER", .may_shrink = true, .leaves = 3},
               {.title = "RETRY AFTER", .align = Align::kRight, .leaves = 1},
               {.title = "ERROR", .may_shrink = true}});
  for (const auto& item : attempts) {
    const auto* attempt = item.if_object();
    if (attempt == nullptr) continue;
    const auto at = time_of(*attempt, "operation_time");
    table.add({{fmt::format("{}", number_of(*attempt, "attempt"))},
               {at ? relative(*at, now) : ""},
               {text_of(*attempt, "result")},
               {text_of(*attempt, "error_code")},
               {text_of(*attempt, "exception_type")},
               {text_of(*attempt, "consumer_ip")},
               {delay_text(*attempt)},
               {text_of(*attempt, "error_message")}});
  }
  return table;
}

std::string message_summary_page(const boost::json::object& summary, TimePoint now,
                                 std::optional<std::size_t> width, const Colors& colors) {
  std::string page;
  for (const auto& [status, count] : object_of(summary, "counts")) {
    page += fmt::format("{:<16} {}\n", std::string_view(status),
                        grouped(static_cast<std::size_t>(count.to_number<std::int64_t>())));
  }
  if (const auto* cancelled = summary.if_contains("cancelled");
      cancelled != nullptr && cancelled->is_number() && *cancelled != 0) {
    page += fmt::format("{:<16} {}\n", "cancelled",
                        grouped(static_cast<std::size_t>(cancelled->to_number<std::int64_t>())));
  }
  const auto number = [&](std::string_view name) -> std::optional<double> {
    const auto* value = summary.if_contains(name);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
  };
  if (const auto rate = number("success_rate")) {
    page += fmt::format("{:<16} {:.1f} %\n", "success rate", *rate * 100);
  }
  page += fmt::format("{:<16} {:.2f}\n", "average retries", number("average_retries").value_or(0));
  const Table newest = message_table(array_of(summary, "newest_pending"), now);
  if (newest.rows() > 0) {
    page += fmt::format("\n{}\n{}", colors.bold("Newest that wait for a person"),
                        newest.render(width, colors));
  }
  return page;
}

Table empty_source_table() {
  return Table({{.title = "NAME"},
                {.title = "BROKER"},
                {.title = "TOPIC", .may_shrink = true},
                {.title = "GROUP", .may_shrink = true, .leaves = 2},
                {.title = "KIND", .may_shrink = true, .leaves = 3},
                {.title = "STATE"},
                {.title = "RECEIVED", .align = Align::kRight, .leaves = 4},
                {.title = "REFUSED", .align = Align::kRight, .leaves = 1},
                {.title = "TROUBLE", .may_shrink = true}});
}

void add_source_row(const boost::json::object& source, Table& table) {
  const std::string trouble = text_of(source, "trouble");
  std::string state = "connected";
  if (flag_of(source, "is_full")) state = "full";
  if (!flag_of(source, "connected")) state = "away";
  table.add({{text_of(source, "name")},
             {text_of(source, "broker")},
             {text_of(source, "topic")},
             {text_of(source, "group")},
             {text_of(source, "kind")},
             {state, state == "connected" ? nullptr : &Colors::yellow},
             {fmt::format("{}", number_of(source, "received"))},
             {fmt::format("{}", number_of(source, "refused"))},
             {trouble}});
}

}  // namespace recourse::cli
