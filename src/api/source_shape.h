// Answers in the sources' own shape: {"code": 200, "msg": "获取成功", "data": ...}. The HTTP status
// is the same number.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "api/problem.h"
#include "http/message.h"

namespace recourse::api {

inline http::Response source_answer(std::string_view msg, boost::json::value data) {
  return {.headers = {{"Content-Type", "application/json"}},
          .body = boost::json::serialize(
                      boost::json::object{{"code", 200}, {"msg", msg}, {"data", std::move(data)}}) +
                  "\n"};
}

// The headers of the problem document stay: when to come back, how to log in.
inline http::Response source_refusal(const Problem& problem) {
  http::Response response = to_response(problem);
  response.headers.set("Content-Type", "application/json");
  response.body = boost::json::serialize(boost::json::object{
                      {"code", problem.status}, {"msg", problem.detail}, {"data", nullptr}}) +
                  "\n";
  return response;
}

inline http::Response source_refusal(int status, std::string msg) {
  return source_refusal(Problem{.status = status, .detail = std::move(msg)});
}
inline http::Response source_refusal(const Error& error) {
  return source_refusal(problem_of(error));
}

}  // namespace recourse::api
