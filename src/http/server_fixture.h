// For tests: a server on a free port of this machine, with a service that the test gives.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "http/raw_client.h"
#include "http/server.h"

namespace recourse::http {

using namespace std::chrono_literals;

inline ServerSettings on_a_free_port() { return {.listen = "127.0.0.1:0"}; }

// As the product's: told apart from what a service answers by its type.
inline Response refused(int status, std::string_view detail) {
  return {.status = status,
          .headers = {{"Content-Type", "application/problem+json"}},
          .body = std::string(detail)};
}

// The method, path and body of the request.
inline Response echoed(const Request& request) {
  std::string text(to_string(request.method));
  for (const std::string& segment : request.path) text += "/" + segment;
  return {.headers = {{"Content-Type", "text/plain"}}, .body = text + " " + request.body};
}
inline void echo(const Request& request, Responder responder) {
  std::move(responder).send(echoed(request));
}

// More than the kernel's buffers take.
inline std::string much(std::size_t bytes) {
  std::string text;
  text.resize(bytes, 'x');
  return text;
}

// Keeps what the service was handed, for the test to answer when it likes.
class Held {
 public:
  Service service() {
    return [this](Request request, Responder responder) {
      const std::scoped_lock lock(mutex_);
      waiting_.emplace_back(std::move(request), std::move(responder));
      changed_.notify_all();
    };
  }
  // Waits for the next one.
  std::pair<Request, Responder> take() {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, 10s, [this] { return !waiting_.empty(); });
    if (!came) throw std::runtime_error("no request came for ten seconds");
    std::pair<Request, Responder> first = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return first;
  }
  std::optional<std::pair<Request, Responder>> try_take() {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    std::pair<Request, Responder> first = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<Request, Responder>> waiting_;
};

// Looks every millisecond, for ten seconds.
template <class Condition>
bool eventually(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class ServerTest : public testing::Test {
 protected:
  void serve(Service service = echo, const ServerSettings& settings = on_a_free_port()) {
    Result<std::unique_ptr<Server>> started =
        Server::start(settings, std::move(service), refused, log_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  [[nodiscard]] RawClient client() const { return RawClient(server_->port()); }

  MemoryLog log_;
  Held held_;  // before the server, which is gone first
  std::unique_ptr<Server> server_;
};

}  // namespace recourse::http
