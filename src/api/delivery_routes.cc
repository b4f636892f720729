// What became of notices: looked up in the pages that all nodes write.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "api/route.h"
#include "api/task_filter.h"
#include "base/text.h"
#include "notify/delivery_page.h"
#include "store/records.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// Pages of deliveries have up to 64 KiB each.
constexpr std::size_t kPagesPerCall = 20;
// One request looks at no more of them; its answer may then be short, and its cursor goes on.
constexpr std::size_t kPagesPerRequest = 200;
// Of a page's name: 16 digits, a dash, a ULID.
constexpr std::size_t kPageNameBytes = 43;

// An entry of a page: the next to be looked at.
struct DeliveryPlace {
  std::string page;
  std::size_t entry = 0;
};

struct DeliveryQuery {
  // What an entry must say, by the name of its member.
  std::vector<std::pair<std::string, std::string>> wanted = {};
  std::optional<DeliveryPlace> from = std::nullopt;
  std::size_t limit = 0;
};

std::optional<DeliveryPlace> parse_place(std::string_view cursor) {
  if (cursor.size() < kPageNameBytes + 2 || cursor[kPageNameBytes] != '.' ||
      !is_plain_text(cursor)) {
    return std::nullopt;
  }
  const std::string_view number = cursor.substr(kPageNameBytes + 1);
  DeliveryPlace place{.page = std::string(cursor.substr(0, kPageNameBytes))};
  const char* const last = number.data() + number.size();
  const auto [end, error] = std::from_chars(number.data(), last, place.entry);
  if (error != std::errc() || end != last) return std::nullopt;
  return place;
}

template <class Enum, std::size_t N>
void check_word(std::string_view name, std::string_view word, const std::array<Enum, N>& all,
                std::vector<FieldError>& errors) {
  std::vector<std::string_view> known;
  for (const Enum value : all) known.push_back(to_string(value));
  if (std::ranges::find(known, word) != known.end()) return;
  errors.push_back({"?" + std::string(name),
                    fmt::format("{} is none; there are: {}", shown(word), fmt::join(known, ", "))});
}

DeliveryQuery read_delivery_query(const http::Request& request, std::vector<FieldError>& errors) {
  refuse_other_parameters(request, {"channel", "result", "event", "task", "limit", "cursor"},
                          errors);
  DeliveryQuery query{.limit = read_limit(request, errors)};
  for (const char* name : {"channel", "result", "event", "task"}) {
    if (const auto text = request.parameter(name)) query.wanted.emplace_back(name, *text);
  }
  if (const auto word = request.parameter("result")) {
    check_word("result", *word, notify::kAllDeliveryResults, errors);
  }
  if (const auto word = request.parameter("event")) {
    check_word("event", *word, notify::kAllEvents, errors);
  }
  if (const auto id = request.parameter("task"); id && !task::parse_task_id("it", *id)) {
    errors.push_back({"?task", "must be a task's id"});
  }
  if (const auto cursor = request.parameter("cursor")) {
    query.from = parse_place(*cursor);
    if (!query.from) errors.push_back({"?cursor", "must be the next_cursor of the page before"});
  }
  return query;
}

bool says(const object& entry, std::string_view name, std::string_view text) {
  const boost::json::value* member = entry.if_contains(name);
  const auto* found = member == nullptr ? nullptr : member->if_string();
  return found != nullptr && *found == text;
}

class DeliverySearch {
 public:
  DeliverySearch(DeliveryQuery query, const Identity& caller)
      : query_(std::move(query)), caller_(caller) {}

  // False: it has all it wants.
  bool look(const store::Record& record, std::size_t first) {
    const array entries = notify::read_delivery_page(record.value);
    for (std::size_t i = first; i < entries.size(); ++i) {
      next_ = {.page = record.name, .entry = i + 1};
      if (!fits(entries[i].get_object())) continue;
      items_.push_back(entries[i]);
      if (items_.size() == query_.limit) return false;
    }
    next_ = {.page = record.name, .entry = entries.size()};
    return true;
  }

  Result<> run(store::Records& records) {
    std::optional<std::string> after;
    if (query_.from) {
      const auto begun = records.find(notify::kDeliverySpace, query_.from->page, kPatience);
      if (!begun) return fail(begun.error());
      if (*begun && !look(**begun, query_.from->entry)) return {};
      after = query_.from->page;
    }
    for (std::size_t looked = 0; looked < kPagesPerRequest; looked += kPagesPerCall) {
      const auto pages = records.list(notify::kDeliverySpace, after, kPagesPerCall, kPatience);
      if (!pages) return fail(pages.error());
      for (const store::Record& record : pages->records) {
        if (!look(record, 0)) return {};
      }
      after = pages->next;
      if (!after) break;
    }
    if (!after) next_.reset();
    return {};
  }

  [[nodiscard]] object body() const {
    object shape{{"items", items_}, {"next_cursor", nullptr}};
    if (next_) shape["next_cursor"] = fmt::format("{}.{}", next_->page, next_->entry);
    return shape;
  }

 private:
  // What sums up several tenants is for those who see all of them.
  [[nodiscard]] bool fits(const object& entry) const {
    if (caller_.tenant && !says(entry, "tenant", caller_.tenant->value)) return false;
    return std::ranges::all_of(query_.wanted, [&entry](const auto& wanted) {
      return says(entry, wanted.first, wanted.second);
    });
  }

  const DeliveryQuery query_;
  const Identity& caller_;
  array items_;
  std::optional<DeliveryPlace> next_;
};

http::Response list_deliveries(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  DeliveryQuery query = read_delivery_query(call.request, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  DeliverySearch search(std::move(query), call.caller);
  if (const Result<> ran = search.run(desk.opened.records()); !ran) return refuse(ran.error());
  return json_response(search.body());
}

}  // namespace

std::vector<Route> delivery_routes() {
  return {{http::Method::kGet, "/api/v1/notifications/deliveries", Role::kViewer,
           Answer(list_deliveries)}};
}

}  // namespace recourse::api
