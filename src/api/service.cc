#include "api/service.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "api/safety.h"
#include "api/source_shape.h"
#include "http/router.h"

namespace recourse::api {
namespace {

class ApiService {
 public:
  ApiService(Desk& desk, Gate& gate, std::vector<Route> routes, http::Router router)
      : desk_(desk), gate_(gate), routes_(std::move(routes)), router_(std::move(router)) {}

  void take(http::Request request, http::Responder responder) {
    if (const auto problem = gate_.refuse_early(request)) {
      return std::move(responder).send(to_response(*problem));
    }
    const http::Router::Match match = router_.match(request.method, request.path);
    if (const auto* found = std::get_if<http::Router::Found>(&match)) {
      Call call{.request = std::move(request), .parameters = {}, .caller = {}};
      for (const auto& [name, value] : found->parameters) call.parameters.push_back(value);
      return dispatch(routes_[found->route], std::move(call), std::move(responder));
    }
    std::move(responder).send(guarded(no_route(match)));
  }

 private:
  static http::Response no_route(const http::Router::Match& match) {
    if (const auto* wrong = std::get_if<http::Router::WrongMethod>(&match)) {
      return to_response({.status = 405,
                          .detail = "there is " + wrong->allow + " here",
                          .headers = {{"Allow", wrong->allow}}});
    }
    if (const auto* options = std::get_if<http::Router::Options>(&match)) {
      return {.status = 204, .headers = {{"Allow", options->allow}}};
    }
    return refuse(404, "there is nothing here; /openapi.json lists what there is");
  }

  // On the transport's thread: nothing here waits for the store.
  void dispatch(const Route& route, Call call, http::Responder responder) {
    auto who = gate_.identify_at_once(call.request, route.role);
    const bool is_known = who.has_value();
    if (is_known && !admit(*std::move(who), route, call, responder)) return;
    const auto* later = std::get_if<AnswerLater>(&route.answer);
    if (is_known && later != nullptr) return begin(*later, std::move(call), std::move(responder));
    if (desk_.pool.use().queued >= kWaitingMax) {
      return std::move(responder).send(
          refusal(route, {.status = 503, .detail = "too many requests wait here already"}));
    }
    const auto reply = std::make_shared<http::Responder>(std::move(responder));
    desk_.pool.run([this, &route, call = std::move(call), reply, is_known]() mutable {
      if (reply->is_abandoned()) return;
      if (!is_known && !admit(gate_.identify(call.request, route.role), route, call, *reply))
        return;
      if (const auto* soon = std::get_if<AnswerLater>(&route.answer)) {
        begin(*soon, std::move(call), std::move(*reply));
      } else {
        std::move(*reply).send(answer(std::get<Answer>(route.answer), call));
      }
    });
  }

  static http::Response refusal(const Route& route, const Problem& problem) {
    return route.shape == Shape::kSource ? source_refusal(problem) : to_response(problem);
  }

  static bool admit(std::variant<Identity, Problem> who, const Route& route, Call& call,
                    http::Responder& responder) {
    if (const auto* problem = std::get_if<Problem>(&who)) {
      std::move(responder).send(refusal(route, *problem));
      return false;
    }
    call.caller = std::get<Identity>(std::move(who));
    return true;
  }

  http::Response answer(const Answer& route, const Call& call) {
    return answer_calmly(desk_.log, [&] { return route(desk_, call); });
  }

  // A responder that is dropped on the way out answers 500 by itself.
  void begin(const AnswerLater& route, Call call, http::Responder responder) {
    try {
      route(desk_, std::move(call), std::move(responder));
    } catch (const std::exception& error) {
      desk_.log.error("request_threw", {{"what", error.what()}});
    }
  }

  Desk& desk_;
  Gate& gate_;
  const std::vector<Route> routes_;
  const http::Router router_;
};

Result<http::Router> router_of(const std::vector<Route>& routes) {
  std::vector<http::Route> patterns;
  for (const Route& route : routes) patterns.push_back({route.method, std::string(route.path)});
  return http::Router::make(std::move(patterns));
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (path.remove_prefix(1); !path.empty();) {
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return segments;
}

// GUARD-14: a route that is taken is left to who has it.
Result<> add_guards_routes(const Desk& desk, std::vector<Route>& routes) {
  for (auto& [guard, route] : manual_success_routes(desk)) {
    const auto router = router_of(routes);
    if (!router) return fail(router.error());
    const http::Router::Match taken = router->match(route.method, segments_of(route.path));
    if (std::holds_alternative<http::Router::Found>(taken)) {
      desk.log.warning("guard_route_taken", {{"route", std::string(route.path)}});
      guard.leave_route();
    } else {
      routes.push_back(std::move(route));
    }
  }
  return {};
}

}  // namespace

Result<http::Service> make_service(Desk& desk, Gate& gate) {
  std::vector<Route> routes = all_routes();
  if (const Result<> added = add_guards_routes(desk, routes); !added) return fail(added.error());
  auto router = router_of(routes);
  if (!router) return fail(router.error());
  auto service = std::make_shared<ApiService>(desk, gate, std::move(routes), *std::move(router));
  return http::Service([service](http::Request request, http::Responder responder) {
    service->take(std::move(request), std::move(responder));
  });
}

http::Response refuse_request(int status, std::string_view detail) {
  return refuse(status, std::string(detail));
}

}  // namespace recourse::api
