#include "notify/delivery_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/rfc3339.h"

namespace recourse::notify {
namespace {

using boost::json::array;
using boost::json::object;

struct Line {
  TimePoint at;
  std::string text;
};

boost::json::value text_or_null(bool is_there, std::string_view text) {
  if (!is_there) return nullptr;
  return boost::json::value(text);
}

}  // namespace

std::string delivery_page_name(TimePoint at, const Ulid& by) {
  const std::int64_t left =
      std::numeric_limits<std::int64_t>::max() - at.time_since_epoch().count();
  return fmt::format("{:016x}-{}", static_cast<std::uint64_t>(left), to_string(by));
}

object to_json(const DeliveryEntry& entry) {
  const Delivery& delivery = entry.delivery;
  return {{"at", format_rfc3339(delivery.at)},
          {"since", format_rfc3339(entry.since)},
          {"count", entry.count},
          {"channel", delivery.channel},
          {"result", to_string(delivery.result)},
          {"error", delivery.error},
          {"event", text_or_null(!entry.mixed, to_string(delivery.event))},
          {"severity", to_string(delivery.severity)},
          {"kind", text_or_null(!entry.mixed, delivery.kind.value)},
          {"tenant", text_or_null(!entry.mixed, delivery.tenant.value)},
          {"task", text_or_null(delivery.task.has_value(),
                                delivery.task ? task::to_string(*delivery.task) : "")},
          {"notice", text_or_null(!delivery.notice.empty(), delivery.notice)},
          {"tries", delivery.tries},
          {"more", delivery.more},
          {"summary", delivery.summary}};
}

std::string take_delivery_page(DeliveryBook& book, std::string_view node, std::size_t bytes_max) {
  const std::string head =
      fmt::format(R"({{"node":{},"items":[)", boost::json::serialize(boost::json::value(node)));
  constexpr std::string_view kTail = "]}";
  std::vector<Line> lines;
  std::size_t bytes = head.size() + kTail.size();
  while (auto entry = book.take()) {
    Line line{.at = entry->delivery.at, .text = boost::json::serialize(to_json(*entry))};
    if (!lines.empty() && bytes + line.text.size() + 1 > bytes_max) {
      book.put_back(*std::move(entry));
      break;
    }
    bytes += line.text.size() + 1;
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  std::ranges::stable_sort(lines, std::ranges::greater{}, &Line::at);
  std::string page = head;
  for (const Line& line : lines) {
    page += line.text;
    page += ',';
  }
  page.back() = kTail.front();
  page += kTail.back();
  return page;
}

array read_delivery_page(std::string_view text) {
  boost::json::error_code error;
  boost::json::value page = boost::json::parse(text, error);
  object* whole = error ? nullptr : page.if_object();
  boost::json::value* items = whole == nullptr ? nullptr : whole->if_contains("items");
  const boost::json::value* node = whole == nullptr ? nullptr : whole->if_contains("node");
  if (items == nullptr || node == nullptr || !items->is_array()) return {};
  array entries;
  for (boost::json::value& item : items->get_array()) {
    if (object* entry = item.if_object()) {
      (*entry)["node"] = *node;
      entries.push_back(std::move(item));
    }
  }
  return entries;
}

}  // namespace recourse::notify
