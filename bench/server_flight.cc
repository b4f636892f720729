#include "bench/server_flight.h"

#include <chrono>
#include <string>

#include "bench/store_line.h"
#include "http/client.h"
#include "http/test_server.h"
#include "tests/support/server_process.h"
#include "tests/support/temporary_directory.h"

namespace recourse::bench {
namespace {

constexpr int kCalls = 1'000;
constexpr std::size_t kHttpThreadsAsked = 3;
constexpr auto kAnswersAfter = std::chrono::seconds(10);

std::string config(const std::filesystem::path& folder, const std::string& url) {
  return "server: {listen: '127.0.0.1:0'}\nstore: {data-dir: '" + folder.string() +
         "'}\nkinds:\n  slow: {type: http, url: '" + url +
         "', timeout: 60s, concurrency: " + std::to_string(kCalls) + "}\n";
}

void submit_all(const tests::ServerProcess& server) {
  std::string tasks;
  for (int i = 0; i < kCalls; ++i) tasks += i == 0 ? R"({"kind":"slow"})" : R"(,{"kind":"slow"})";
  const auto client = must(http::Client::open({}));
  const auto result = http::fetch(*client, {.url = server.url() + "/api/v1/tasks/batch",
                                            .body = R"({"tasks":[)" + tasks + "]}",
                                            .answer_bytes_max = std::size_t{1024} * 1024});
  const auto* answer = std::get_if<http::Answer>(&result);
  if (answer == nullptr || answer->status != 200) give_up("1,000 tasks were not taken");
}

Figure count_of(std::string name, std::size_t count) {
  return {.bench = "server",
          .name = std::move(name),
          .value = static_cast<double>(count),
          .unit = "threads",
          .comparison = std::nullopt,
          .goal = ""};
}

}  // namespace

std::vector<Figure> measure_calls_in_flight() {
  const tests::TemporaryDirectory folder;
  const http::TestServer slow([](const http::TestServer::Seen&) {
    return http::TestServer::Reply{.bytes = http::TestServer::answer(200), .after = kAnswersAfter};
  });
  const tests::ServerProcess server(folder.path(), "server", config(folder.path(), slow.url()));
  const std::size_t before = server.threads();
  submit_all(server);
  slow.wait_for_open_requests(kCalls);
  Figure serving = count_of("1,000 calls in flight: for HTTP", server.threads("http-"));
  serving.goal = "at most 3";
  serving.met = server.threads("http-") <= kHttpThreadsAsked;
  return {serving, count_of("... all of the server", server.threads()),
          count_of("... and before", before)};
}

}  // namespace recourse::bench
