#include "bench/server_submits.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <thread>

#include "bench/http_load.h"
#include "recourse/engine.h"
#include "tests/support/server_process.h"
#include "tests/support/temporary_directory.h"

namespace recourse::bench {
namespace {

constexpr int kRounds = 3;
constexpr int kSubmitters = 64;
constexpr std::chrono::milliseconds kLasts = std::chrono::seconds(3);
constexpr double kShareAsked = 0.5;
// A text in JSON, with its quotes.
const std::string kPayload = '"' + std::string(1022, 'x') + '"';

std::uint16_t port_of(const std::string& url) {
  std::uint16_t port = 0;
  std::from_chars(url.data() + url.rfind(':') + 1, url.data() + url.size(), port);
  return port;
}

Load load() {
  const std::string body = R"({"kind":"bench","payload":)" + kPayload + "}";
  return {.connections = kSubmitters,
          .request =
              "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\n"
              "Content-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body,
          .status = "201",
          .lasts = kLasts};
}

double over_http(const std::string& store) {
  const tests::TemporaryDirectory folder;
  const tests::ServerProcess server(folder.path(), "server",
                                    "server: {listen: '127.0.0.1:0'}\nstore: {url: '" + store +
                                        "'}\nkinds:\n  bench: {type: worker}\n");
  return answers_per_second(port_of(server.url()), load());
}

double in_process(const std::string& store) {
  Engine engine = must(Engine::open({.store = store}));
  must(engine.start());
  std::atomic<bool> over = false;
  std::atomic<std::int64_t> answered = 0;
  std::vector<std::jthread> submitters;
  for (int i = 0; i < kSubmitters; ++i) {
    submitters.emplace_back([&] {
      while (!over) {
        must(engine.submit_bytes("bench", kPayload));
        ++answered;
      }
    });
  }
  std::this_thread::sleep_for(kLasts / 6);
  const std::int64_t before = answered;
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(kLasts);
  const std::int64_t counted = answered - before;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  over = true;
  submitters.clear();
  return static_cast<double>(counted) / took.count();
}

}  // namespace

std::vector<Figure> measure_submits(const std::function<std::unique_ptr<Side>()>& fresh_database) {
  double served = 0;
  double embedded = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::unique_ptr<Side> apart = fresh_database();
    served = std::max(served, over_http(apart->url()));
    const std::unique_ptr<Side> here = fresh_database();
    embedded = std::max(embedded, in_process(here->url()));
  }
  const double share = served / embedded;
  return {{.bench = "server",
           .name = "submits of 1 KiB, 64 connections",
           .value = served,
           .unit = "tasks/s",
           .comparison = Comparison{.reference = "64 threads in process", .ratio = share},
           .goal = "at least 0.5x",
           .met = share >= kShareAsked},
          {.bench = "server",
           .name = "... by 64 threads in process",
           .value = embedded,
           .unit = "tasks/s",
           .comparison = std::nullopt,
           .goal = ""}};
}

}  // namespace recourse::bench
