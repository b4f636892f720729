#include "app/demo_server.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <utility>

#include "app/config/load.h"

namespace recourse::app {
namespace {

// Waits are short, so that the story is; everything else is as it comes.
constexpr const char* kConfig = R"(
server:
  listen: 127.0.0.1:0
store:
  data-dir: {}
retry:
  scan:
    period: 200
  backoff:
    base: 400ms
    min: 200ms
    max: 1500ms
defaults:
  breaker: false
kinds:
  grant-points:
    url: http://127.0.0.1:{}/points
    max-retries: 20
  send-mail:
    url: http://127.0.0.1:{}/mail
    max-retries: 3
)";

Result<Config> config_for(const std::filesystem::path& directory, std::uint16_t port) {
  // Not the environment: a demo is the same on every machine.
  Loaded loaded = parse_config(
      {.file = "demo", .text = fmt::format(fmt::runtime(kConfig), directory.string(), port, port)});
  if (loaded.config) return *std::move(loaded.config);
  std::string text;
  for (const Problem& problem : loaded.problems) text += to_string(problem) + "\n";
  return fail(ErrorCode::kInvalid, text);
}

}  // namespace

Result<std::unique_ptr<DemoServer>> DemoServer::start(Log& log) {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "recourse-demo-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no directory can be made in {}: set TMPDIR to one that can be written",
                            std::filesystem::path(pattern).parent_path().string()));
  }
  std::unique_ptr<DemoServer> demo(new DemoServer(pattern));
  auto downstream = DemoDownstream::start(log);
  if (!downstream) return fail(downstream.error());
  demo->downstream_ = *std::move(downstream);
  const auto config = config_for(demo->directory_, demo->downstream_->port());
  if (!config) return fail(config.error());
  auto server = RunningServer::start(*config, {}, log);
  if (!server) return fail(server.error());
  demo->server_ = *std::move(server);
  return demo;
}

DemoServer::~DemoServer() {
  server_.reset();
  downstream_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace recourse::app
