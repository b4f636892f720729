// One way into the API: where, for whom, and what is done.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <variant>
#include <vector>

#include "api/access.h"
#include "api/desk.h"
#include "http/message.h"
#include "http/server.h"

namespace recourse::api {

// Waits for the store as it likes: it is called on a thread kept for that.
using Answer = std::function<http::Response(Desk&, const Call&)>;
// Returns at once and answers later; called on the transport's thread.
using AnswerLater = std::function<void(Desk&, Call, http::Responder)>;

// How refusals look.
enum class Shape : std::uint8_t {
  kProblem,  // RFC 9457
  kSource,   // code, msg, data: the sources' own routes
};

struct Route {
  http::Method method;
  std::string_view path;  // with {names}
  Role role;              // at least
  std::variant<Answer, AnswerLater> answer;
  Shape shape = Shape::kProblem;
};

std::vector<Route> all_routes();

// The parts of it, one for each sort of thing.
std::vector<Route> submit_routes();
std::vector<Route> task_routes();
std::vector<Route> control_routes();
std::vector<Route> case_routes();
std::vector<Route> create_routes();
std::vector<Route> bulk_routes();
std::vector<Route> degrade_routes();
std::vector<Route> guard_routes();
std::vector<Route> abnormal_routes();
std::vector<Route> message_routes();
std::vector<Route> message_consumer_routes();
std::vector<Route> msg_retry_routes();
std::vector<Route> kind_routes();
std::vector<Route> schedule_routes();
std::vector<Route> lease_routes();
std::vector<Route> delivery_routes();
std::vector<Route> notify_routes();
std::vector<Route> alert_routes();
std::vector<Route> token_routes();
std::vector<Route> system_routes();

// Of this server's guards, beside all_routes(); their paths live as long as the guards.
struct GuardRoute {
  guard::Guard& guard;
  Route route;
};
std::vector<GuardRoute> manual_success_routes(const Desk& desk);

}  // namespace recourse::api
