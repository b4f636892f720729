// http_fuzz COUNT [SEED]: as many spoiled requests against a server in this process. Prints the one
// that did harm, and fails.
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "http/request_fuzz.h"
#include "http/server.h"

int main(int argc, char** argv) {
  using namespace recourse;
  const int count = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (count <= 0) {
    std::fputs("usage: http_fuzz COUNT [SEED]\n", stderr);
    return 2;
  }
  NullLog log;
  const auto serve = [](const http::Request&, http::Responder responder) {
    std::move(responder).send({.body = "ok"});
  };
  const auto refuse = [](int status, std::string_view detail) {
    return http::Response{.status = status, .body = std::string(detail)};
  };
  const Result<std::unique_ptr<http::Server>> server = http::Server::start(
      {.listen = "127.0.0.1:0", .header_bytes_max = 2'000, .body_bytes_max = 2'000}, serve, refuse,
      log);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  if (const auto harm = http::fuzz_server((*server)->port(), count, seed)) {
    std::fprintf(stderr, "%s\nreplay: http_fuzz %d %llu\n", harm->c_str(), count,
                 static_cast<unsigned long long>(seed));
    return 1;
  }
  std::printf("%d spoiled requests, none did harm\n", count);
  return 0;
}
