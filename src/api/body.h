// The JSON object of a request's body.
#pragma once

#include <boost/json.hpp>

#include "api/fields.h"
#include "base/result.h"
#include "http/message.h"

namespace recourse::api {

// kInvalid says what is wrong. An empty body is an empty object.
inline Result<boost::json::object> read_body(const http::Request& request) {
  if (request.body.empty()) return boost::json::object();
  Result<boost::json::value> body = parse_json(request.body);
  if (!body) return fail(body.error());
  if (auto* object = body->if_object()) return std::move(*object);
  return fail(ErrorCode::kInvalid, "the body must be a JSON object");
}

}  // namespace recourse::api
