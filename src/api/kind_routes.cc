// Kinds: what is known of them here, how many tasks they have, pausing and resuming.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/body.h"
#include "api/control.h"
#include "api/explain.h"
#include "api/route.h"
#include "api/shapes.h"
#include "base/duration_text.h"
#include "base/text.h"
#include "engine/core/rules.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

object lane_of(const engine::Core::LaneStatus& lane) {
  return {{"queued", lane.queued},
          {"running", lane.running},
          {"breaker", policy::to_string(lane.breaker)}};
}

struct Known {
  store::Counts counts;
  store::Pauses pauses;
  std::vector<store::NodeRow> nodes;
  engine::Core::Status status;
};

Result<Known> look(Desk& desk) {
  Known known;
  auto counts = desk.opened.reader().counts(kPatience);
  if (!counts) return fail(counts.error());
  known.counts = *std::move(counts);
  auto pauses = desk.opened.reader().pauses(kPatience);
  if (!pauses) return fail(pauses.error());
  known.pauses = *std::move(pauses);
  auto nodes = desk.opened.reader().nodes(kPatience);
  if (!nodes) return fail(nodes.error());
  known.nodes = *std::move(nodes);
  known.status = desk.node.status();
  return known;
}

object counts_of(const Known& known, const std::string& kind) {
  object counts;
  for (const auto& [key, count] : known.counts) {
    if (key.first.value == kind) counts[to_string(key.second)] = count;
  }
  return counts;
}

object kind_json(const Desk& desk, const Known& known, const std::string& kind) {
  object shape{{"name", kind},
               {"paused", std::ranges::count(known.pauses.kinds, task::Kind(kind)) > 0},
               {"handled", is_handled(task::Kind(kind), known.nodes)},
               {"counts", counts_of(known, kind)}};
  const std::string rule = desk.node.kinds().name_for(task::Kind(kind));
  const auto card = std::ranges::find(desk.kinds, rule, &KindCard::name);
  if (card != desk.kinds.end()) {
    shape["type"] = card->type;
    shape["target"] = card->target;
    shape["timeout"] = format_duration(card->timeout);
    shape["max_retries"] = card->max_retries;
  }
  const auto& lanes = known.status.lanes;
  const auto lane = std::ranges::find(lanes, task::Kind(kind), &engine::Core::LaneStatus::kind);
  if (lane != lanes.end()) shape["lane"] = lane_of(*lane);
  return shape;
}

std::set<std::string> names_of(const Desk& desk, const Known& known) {
  std::set<std::string> names;
  for (const KindCard& card : desk.kinds) names.insert(card.name);
  for (const auto& [key, count] : known.counts) names.insert(key.first.value);
  for (const task::Kind& kind : known.pauses.kinds) names.insert(kind.value);
  return names;
}

http::Response list_kinds(Desk& desk, const Call&) {
  const Result<Known> known = look(desk);
  if (!known) return refuse(known.error());
  array items;
  for (const std::string& name : names_of(desk, *known)) {
    items.push_back(kind_json(desk, *known, name));
  }
  return json_response(object{{"items", std::move(items)}});
}

http::Response show_kind(Desk& desk, const Call& call) {
  const std::string& name = call.parameters.front();
  const Result<Known> known = look(desk);
  if (!known) return refuse(known.error());
  if (!names_of(desk, *known).contains(name) &&
      desk.node.kinds().name_for(task::Kind(name)).empty()) {
    return refuse(404, "no kind of that name is declared here, and no task has it");
  }
  object shape = kind_json(desk, *known, name);
  const auto backlog = desk.opened.reader().backlog(task::Kind(name), kPatience);
  if (!backlog) return refuse(backlog.error());
  shape["backlog"] = {{"due", backlog->due},
                      {"more", backlog->more},
                      {"oldest_due_at", to_json(backlog->oldest_due)}};
  return json_response(shape);
}

http::Response set_pause(Desk& desk, const Call& call, bool paused) {
  // A kind is everybody's.
  if (call.caller.tenant) {
    return refuse(403, "a kind belongs to all tenants; this needs a token that is not one's alone");
  }
  const std::string& name = call.parameters.front();
  if (name.size() > task::kKindBytesMax || !is_plain_text(name)) {
    return refuse(422, "that cannot be a kind's name");
  }
  // It would be taken for a kind of that very name, and nothing would stop.
  if (name.ends_with('*')) {
    return refuse(422, shown(name) + " stands for many kinds; pause and resume each by its name");
  }
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const std::string reason = fields.text("reason").value_or("");
  if (reason.size() > task::kReasonBytesMax) {
    fields.refuse("reason", fmt::format("has up to {} bytes", task::kReasonBytesMax));
  }
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const auto version =
      desk.opened.store().pause_kind(task::Kind(name), paused, call.caller.name, kPatience, reason);
  if (!version) return refuse(version.error());
  tell_owners(desk);
  object shape{{"name", name}, {"paused", paused}};
  // A slip of the pen would stop nothing.
  if (desk.node.kinds().find(task::Kind(name)) == nullptr) {
    shape["warning"] = fmt::format("this server has no kind {}", shown(name));
  }
  return json_response(shape);
}

}  // namespace

std::vector<Route> kind_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/kinds", Role::kViewer, Answer(list_kinds)},
      {kGet, "/api/v1/kinds/{kind}", Role::kViewer, Answer(show_kind)},
      {kPost, "/api/v1/kinds/{kind}/pause", Role::kOperator,
       Answer([](Desk& desk, const Call& call) { return set_pause(desk, call, true); })},
      {kPost, "/api/v1/kinds/{kind}/resume", Role::kOperator,
       Answer([](Desk& desk, const Call& call) { return set_pause(desk, call, false); })},
  };
}

}  // namespace recourse::api
