// Schedules: what comes back by the clock, as this node's configuration has it.
#include <utility>

#include "api/route.h"
#include "api/shapes.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

http::Response list_schedules(Desk& desk, const Call& call) {
  const TimePoint now = desk.node.store_now();
  array items;
  for (const ScheduleCard& card : desk.schedules) {
    if (!call.caller.may_see(card.tenant)) continue;
    const TimePoint next = card.recurrence.next_after(now);
    object shape{{"name", card.name},
                 {"when", card.when},
                 {"kind", card.kind.value},
                 {"next_at", next == kNever ? nullptr : to_json(next)}};
    if (!card.tenant.value.empty()) shape["tenant"] = card.tenant.value;
    items.push_back(std::move(shape));
  }
  return json_response(object{{"items", std::move(items)}});
}

}  // namespace

std::vector<Route> schedule_routes() {
  return {{http::Method::kGet, "/api/v1/schedules", Role::kViewer, Answer(list_schedules)}};
}

}  // namespace recourse::api
