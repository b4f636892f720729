#include "api/problem.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

namespace recourse::api {
namespace {

constexpr Duration kComeBackIn = std::chrono::seconds(1);

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return 422;
    case ErrorCode::kNotFound: return 404;
    case ErrorCode::kConflict: return 409;
    case ErrorCode::kExhausted: return 429;
    case ErrorCode::kUnavailable: return 503;
    case ErrorCode::kInDoubt: return 503;
    case ErrorCode::kCorrupt: return 500;
  }
  std::abort();
}

}  // namespace

std::string_view title_of(int status) {
  switch (status) {
    case 400: return "Bad request";
    case 401: return "Who are you?";
    case 403: return "Not allowed";
    case 404: return "Not found";
    case 405: return "Method not allowed";
    case 408: return "Too slow";
    case 409: return "Conflict";
    case 411: return "Length required";
    case 413: return "Too large";
    case 414: return "Address too long";
    case 415: return "Not JSON";
    case 417: return "Expectation failed";
    case 421: return "Misdirected request";
    case 422: return "Invalid";
    case 426: return "Upgrade required";
    case 429: return "Too much at once";
    case 431: return "Headers too large";
    case 500: return "Internal error";
    case 501: return "Not implemented";
    case 502: return "Bad gateway";
    case 503: return "Not available";
    case 505: return "HTTP version not supported";
    default: return "Error";
  }
}

http::Response to_response(const Problem& problem) {
  boost::json::object body{{"type", "about:blank"},
                           {"title", title_of(problem.status)},
                           {"status", problem.status},
                           {"detail", problem.detail}};
  if (!problem.errors.empty()) {
    boost::json::array& errors = body["errors"].emplace_array();
    for (const FieldError& error : problem.errors) {
      errors.push_back({{"pointer", error.pointer}, {"detail", error.detail}});
    }
  }
  http::Response response{.status = problem.status, .headers = problem.headers};
  response.headers.set("Content-Type", "application/problem+json");
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  std::optional<Duration> wait = problem.retry_after;
  if (!wait && (problem.status == 429 || problem.status == 503)) wait = kComeBackIn;
  if (wait) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*wait).count();
    response.headers.set("Retry-After", std::to_string(std::max<std::int64_t>(seconds, 1)));
  }
  response.body = boost::json::serialize(body) + "\n";
  return response;
}

Problem problem_of(const Error& error) {
  return {.status = status_of(error.code), .detail = error.message};
}

}  // namespace recourse::api
