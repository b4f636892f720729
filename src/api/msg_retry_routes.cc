// The source's own routes (MSG-9): the status of a message as a number, and whether it could be
// marked as processed. Names and answers are the source's.
#include <utility>

#include "api/control.h"
#include "api/message_bodies.h"
#include "api/route.h"
#include "api/source_shape.h"

namespace recourse::api {
namespace {

http::Response plain_json(std::string text) {
  return {
      .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(text)};
}

// Of several groups under one id the one that needs attention most; `?group=` picks.
Result<std::optional<message::Record>> find_asked(Desk& desk, const Call& call) {
  message::Query query{.kinds = desk.messages.kinds,
                       .message_id = call.parameters.front(),
                       .tenant = call.caller.tenant};
  if (const auto group = call.request.parameter("group")) query.group = std::string(*group);
  return message::find_most_urgent(desk.opened.reader(), query, kPatience);
}

// Empty where it is unknown.
http::Response status_by_id(Desk& desk, const Call& call) {
  const auto record = find_asked(desk, call);
  if (!record) return source_refusal(record.error());
  return plain_json(*record ? std::to_string(message::number_of((*record)->status)) : "");
}

http::Response processed_by_id(Desk& desk, const Call& call) {
  const auto record = find_asked(desk, call);
  if (!record) return source_refusal(record.error());
  if (!*record) return plain_json("false");
  if ((*record)->status == message::Status::kProcessed) return plain_json("true");
  const auto move = message::move_to_processed(**record);
  if (!move) return plain_json("false");
  task::Order order;
  order.move = *move;
  const auto effect = control_one(desk, (*record)->id, order, call.caller.name);
  if (!effect && effect.error().code != ErrorCode::kConflict) return source_refusal(effect.error());
  if (!effect) return plain_json("false");
  tell_owners(desk);
  return plain_json("true");
}

}  // namespace

std::vector<Route> msg_retry_routes() {
  using enum http::Method;
  return {
      {kGet, "/extend/sys/msg/retry/getStatusByMsgId/{msgId}", Role::kViewer, Answer(status_by_id),
       Shape::kSource},
      {kPost, "/extend/sys/msg/retry/markAsProcessedByMsgId/{msgId}", Role::kOperator,
       Answer(processed_by_id), Shape::kSource},
  };
}

}  // namespace recourse::api
