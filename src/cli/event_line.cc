#include "cli/event_line.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/task_rows.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

std::string task_text(const object& data, const Colors& colors) {
  const std::string state = text_of(data, "state");
  const Style style = style_of_state(state);
  std::string text =
      fmt::format("{}  {:<9}  {}", text_of(data, "id"),
                  style == nullptr ? state : (colors.*style)(state), text_of(data, "kind"));
  text += "  " + text_of(data, "move");
  if (const auto retries = number_of(data, "retries"); retries > 0) {
    text += fmt::format("  retry {} of {}", retries, number_of(data, "max_retries"));
  }
  if (data.contains("took_us")) {
    text += "  in " + length_of(Duration(number_of(data, "took_us")));
  }
  const std::string error = error_text(object_of(data, "error"));
  if (!error.empty()) text += "  " + printable(error);
  return text;
}

std::string node_text(const object& data) {
  std::string text = text_of(data, "event");
  const std::string detail = text_of(data, "detail");
  if (!detail.empty()) text += ": " + detail;
  if (const auto count = number_of(data, "count"); count > 0) text += fmt::format(" ({})", count);
  return printable(text);
}

}  // namespace

std::string event_line(std::string_view name, const object& data, const Colors& colors) {
  std::string text;
  if (name == "task") {
    text = task_text(data, colors);
  } else if (name == "breaker") {
    text = colors.yellow(fmt::format("breaker of {}: {} -> {}", printable(text_of(data, "kind")),
                                     text_of(data, "from"), text_of(data, "to")));
  } else if (name == "batch") {
    text =
        fmt::format("claims {} at once, after {}", number_of(data, "to"), number_of(data, "from"));
  } else if (name == "node") {
    text = "node: " + node_text(data);
  } else {
    text = printable(std::string(name) + " " + boost::json::serialize(data));
  }
  // Only the time of day: whoever watches knows the date.
  const std::string at = text_of(data, "at");
  const std::string time = at.size() >= 19 ? at.substr(11, 8) : at;
  return colors.dim(printable(time)) + "  " + text;
}

}  // namespace recourse::cli
