// A shop in small: orders in a database of their own, and a points service with another one, which
// a test may kill. It is idempotent by the id it is given, as the degrade door wants it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "engine/executor.h"
#include "http/client.h"
#include "http/server.h"
#include "recourse/degrade.h"
#include "sql/postgres/connect.h"
#include "tests/engine_load_support.h"

namespace recourse::tests {

// Sessions that threads take turns with. One that was lost is replaced by the next who needs one.
class Sessions {
 public:
  explicit Sessions(std::string url) : url_(std::move(url)) {}

  // On one of them, alone.
  Result<> execute(std::string_view statement, std::vector<sql::Value> values) {
    auto session = take();
    if (!session) return fail(session.error());
    (*session)->set_deadline(Stopwatch::now() + std::chrono::seconds(2));
    const auto done = (*session)->execute(statement, values);
    if (!done) return fail(done.error());
    const std::lock_guard lock(mutex_);
    free_.push_back(*std::move(session));
    return {};
  }
  std::int64_t number(std::string_view query) {
    auto session = take().value();
    session->set_deadline(Stopwatch::now() + std::chrono::seconds(10));
    std::int64_t number = 0;
    session->query(query, {}, [&](const sql::Row& row) { number = row.integer(0); }).value();
    return number;
  }

 private:
  Result<std::unique_ptr<sql::postgres::PostgresConnection>> take() {
    {
      const std::lock_guard lock(mutex_);
      while (!free_.empty()) {
        auto session = std::move(free_.back());
        free_.pop_back();
        if (session->usable()) return session;
      }
    }
    return sql::postgres::connect(url_, Stopwatch::now() + std::chrono::seconds(2));
  }

  const std::string url_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<sql::postgres::PostgresConnection>> free_;
};

// Each granting is a row: granting again under the same id is none.
class PointsLedger {
 public:
  explicit PointsLedger(const std::string& url) : sessions_(url) {
    sessions_
        .execute("CREATE TABLE IF NOT EXISTS points (id text PRIMARY KEY, order_number bigint)", {})
        .value();
  }

  Result<> grant(const std::string& id, std::int64_t order) {
    return sessions_.execute("INSERT INTO points VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
                             {sql::Text{id}, order});
  }
  std::int64_t orders_granted() {
    return sessions_.number("SELECT count(DISTINCT order_number) FROM points");
  }
  std::int64_t rows() { return sessions_.number("SELECT count(*) FROM points"); }

 private:
  Sessions sessions_;
};

// In front of it, over HTTP: the id comes as Idempotency-Key. It may die and hang, and comes back
// on the same port.
class PointsServer {
 public:
  explicit PointsServer(const std::string& url) : ledger_(url) { start(); }
  ~PointsServer() { die(); }
  PointsServer(const PointsServer&) = delete;
  PointsServer& operator=(const PointsServer&) = delete;

  void start() {
    http::ServerSettings settings;
    settings.listen = "127.0.0.1:" + std::to_string(port_);
    auto started = http::Server::start(
        settings,
        [this](http::Request request, http::Responder responder) {
          take(std::move(request), std::move(responder));
        },
        [](int status, std::string_view) { return http::Response{.status = status}; }, log_);
    server_ = std::move(started).value();
    port_ = server_->port();
  }
  // Nobody listens any more.
  void die() {
    if (server_) server_->stop(Duration::zero());
    server_.reset();
  }
  // Takes calls, and never answers.
  void set_hangs(bool hangs) {
    hangs_ = hangs;
    const std::lock_guard lock(mutex_);
    if (!hangs) unanswered_.clear();
  }

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/grant";
  }
  PointsLedger& ledger() { return ledger_; }

 private:
  void take(http::Request request, http::Responder responder) {
    const auto reply = std::make_shared<http::Responder>(std::move(responder));
    if (hangs_) {
      const std::lock_guard lock(mutex_);
      unanswered_.push_back(reply);
      return;
    }
    pool_.run([this, request = std::move(request), reply] {
      const std::string id(request.headers.find("Idempotency-Key").value_or(""));
      const Result<> granted = ledger_.grant(id, std::stoll(request.body));
      std::move(*reply).send({.status = granted ? 200 : 503});
    });
  }

  NullLog log_;
  PointsLedger ledger_;
  std::atomic<bool> hangs_ = false;
  std::mutex mutex_;
  std::vector<std::shared_ptr<http::Responder>> unanswered_;
  std::uint16_t port_ = 0;
  engine::Executor pool_{{.core_threads = 4, .max_threads = 8}};
  std::unique_ptr<http::Server> server_;
};

// Calls the points service: the inline action and the handler do it the same way.
class PointsClient {
 public:
  explicit PointsClient(std::string url)
      : url_(std::move(url)), client_(http::Client::open({}).value()) {}

  // How many calls this client has made.
  [[nodiscard]] std::size_t calls() const { return calls_; }

  Result<> grant(const std::string& id, std::int64_t order) {
    ++calls_;
    const http::CallResult result = http::fetch(*client_, {.url = url_,
                                                           .headers = {{"Idempotency-Key", id}},
                                                           .body = std::to_string(order),
                                                           .timeout = std::chrono::seconds(3)});
    const auto* answer = std::get_if<http::Answer>(&result);
    if (answer != nullptr && answer->status == 200) return {};
    return fail(ErrorCode::kUnavailable, answer != nullptr
                                             ? "points answered " + std::to_string(answer->status)
                                             : std::get<http::CallFailed>(result).message);
  }

 private:
  const std::string url_;
  const std::unique_ptr<http::Client> client_;
  std::atomic<std::size_t> calls_ = 0;
};

class OrderService {
 public:
  OrderService(const std::string& url, Degrade& degrade, std::shared_ptr<PointsClient> points)
      : orders_(url), degrade_(degrade), points_(std::move(points)) {
    orders_.execute("CREATE TABLE IF NOT EXISTS orders (number bigint PRIMARY KEY)", {}).value();
  }

  // The order path: the order is on the disk, its points are granted or will be.
  void place(std::int64_t number) {
    const auto begun = Stopwatch::now();
    orders_.execute("INSERT INTO orders VALUES (?)", {number}).value();
    const auto granted = degrade_.attempt(
        "grant-points", std::string_view(std::to_string(number)),
        {.member = "m-1", .related_id = std::to_string(number), .type = "EARN_ORDER"},
        [points = points_, number](const InlineCall& call) {
          return points->grant(call.id(), number);
        });
    const Duration took = since(begun);
    ASSERT_TRUE(granted) << granted.error().message;
    const std::lock_guard lock(mutex_);
    took_.push_back(took);
    degraded_ += granted->degraded ? 1 : 0;
  }

  struct Figures {
    Duration p50{};
    Duration p99{};
    std::size_t orders = 0;
    std::size_t degraded = 0;
  };
  // Of the orders since the last time.
  Figures figures() {
    const std::lock_guard lock(mutex_);
    std::ranges::sort(took_);
    const Figures figures{.p50 = took_[took_.size() / 2],
                          .p99 = took_[took_.size() * 99 / 100],
                          .orders = took_.size(),
                          .degraded = degraded_};
    took_.clear();
    degraded_ = 0;
    return figures;
  }

 private:
  Sessions orders_;
  Degrade& degrade_;
  const std::shared_ptr<PointsClient> points_;
  std::mutex mutex_;
  std::vector<Duration> took_;
  std::size_t degraded_ = 0;
};

}  // namespace recourse::tests
