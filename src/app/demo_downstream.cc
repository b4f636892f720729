#include "app/demo_downstream.h"

#include <string>
#include <utility>

namespace recourse::app {
namespace {

http::Response text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

}  // namespace

http::Response DemoDownstream::answer(const http::Request& request) {
  if (request.path == std::vector<std::string>{"points"}) {
    return is_well_ ? text(200, "granted") : text(503, "the points database is being restarted");
  }
  if (knows_address_) return text(200, "sent");
  http::Response response = text(422, "there is no such mailbox");
  response.headers.set("Recourse-Outcome", "dead");
  return response;
}

Result<std::unique_ptr<DemoDownstream>> DemoDownstream::start(Log& log) {
  auto downstream = std::make_unique<DemoDownstream>();
  auto server = http::Server::start(
      {.listen = "127.0.0.1:0"},
      [self = downstream.get()](const http::Request& request, http::Responder responder) {
        std::move(responder).send(self->answer(request));
      },
      [](int status, std::string_view detail) { return text(status, std::string(detail)); }, log);
  if (!server) return fail(server.error());
  downstream->server_ = *std::move(server);
  return downstream;
}

}  // namespace recourse::app
