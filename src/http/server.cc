#include "http/server.h"

#include <fmt/format.h>

#include <boost/asio/executor_work_guard.hpp>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/field_checks.h"
#include "base/mutex.h"
#include "base/thread_name.h"
#include "http/server/connections.h"
#include "http/server/listener.h"
#include "http/server/message_of.h"
#include "http/server/serving.h"
#include "http/server/tls_context.h"

namespace recourse::http {
namespace {

class AsioServer final : public Server {
 public:
  explicit AsioServer(Serving serving)
      : serving_(std::move(serving)),
        io_(serving_.settings.threads),
        work_(io_.get_executor()),
        listener_(io_, serving_, connections_) {}
  ~AsioServer() override { AsioServer::stop(Duration::zero()); }
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;

  Result<> start();
  [[nodiscard]] std::uint16_t port() const override { return listener_.port(); }
  void stop(Duration limit) override;
  [[nodiscard]] std::size_t connections() const override { return connections_.count().served; }

 private:
  void run();

  Serving serving_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  Connections connections_;
  Listener listener_;
  Mutex stopping_;  // who stops second waits for the first
  std::vector<std::thread> threads_ GUARDED_BY(stopping_);
};

Result<> AsioServer::start() {
  if (Result<> open = listener_.open(); !open) return open;
  listener_.start();
  MutexLock lock(stopping_);
  try {
    for (int i = 0; i < serving_.settings.threads; ++i) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot start {} threads to serve: {}",
                                                     serving_.settings.threads, error.what()));
  }
  return {};
}

void AsioServer::run() {
  name_this_thread("http-server");
  while (true) {
    try {
      io_.run();
      return;
    } catch (...) {
      // Connections catch what their own coroutines throw; this is what is left, such as no memory
      // for a handler.
      serving_.log.error("http_thread_threw", {{"error", message_of(std::current_exception())}});
    }
  }
}

void AsioServer::stop(Duration limit) {
  MutexLock lock(stopping_);
  if (threads_.empty()) return;
  listener_.close();
  connections_.finish();
  if (!connections_.wait_until_empty(limit)) {
    connections_.cut();
    // They end at once; none waits for anything outside.
    connections_.wait_until_empty(kLongestWait);
  }
  work_.reset();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Result<> validate(const ServerSettings& settings) {
  constexpr Duration kShortest = std::chrono::milliseconds(1);
  constexpr std::size_t kMost = std::size_t{1} << 30;
  return FieldChecks("http")
      .between("threads", settings.threads, 1, 256)
      .between("header_bytes_max", settings.header_bytes_max, std::size_t{64}, std::size_t{1} << 20)
      .between("body_bytes_max", settings.body_bytes_max, std::size_t{0}, kMost)
      .between("connections_max", settings.connections_max, std::size_t{1}, std::size_t{1'000'000})
      .between("read_within", settings.read_within, kShortest, kLongestWait)
      .between("write_within", settings.write_within, kShortest, kLongestWait)
      .between("idle_for", settings.idle_for, kShortest, kLongestWait)
      .between("answer_within", settings.answer_within, kShortest, kLongestWait)
      .between("stream_bytes_max", settings.stream_bytes_max, std::size_t{1}, kMost)
      .result();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings, Service service,
                                              Refusal refusal, Log& log) {
  if (Result<> valid = validate(settings); !valid) return fail(std::move(valid).error());
  Serving serving{.settings = std::move(settings),
                  .service = std::move(service),
                  .refusal = std::move(refusal),
                  .log = log};
  if (serving.settings.tls) {
    Result<asio::ssl::context> tls = open_tls(*serving.settings.tls);
    if (!tls) return fail(std::move(tls).error());
    serving.tls = *std::move(tls);
  }
  auto server = std::make_unique<AsioServer>(std::move(serving));
  if (Result<> started = server->start(); !started) return fail(std::move(started).error());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace recourse::http
