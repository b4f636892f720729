// For tests of channels that POST: a server on loopback, a client, a clock that stands still.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/manual_clock.h"
#include "http/client.h"
#include "http/test_server.h"
#include "notify/channels/endpoint.h"
#include "task/ids.h"

namespace recourse::notify {

// With all that a notice can have, and in it what each format must not take for markup.
inline Notice full_notice() {
  return {.id = "ntc_01J",
          .event = Event::kMaxRetryReached,
          .severity = Severity::kError,
          .node = "node-1",
          .kind = task::Kind("grant-points"),
          .task = task::parse_task_id("task", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV").value(),
          .tenant = task::Tenant("acme"),
          .retries = 5,
          .max_retries = 5,
          .reason = "timeout",
          .last_error = "line 1 <b>\n<!channel> [x](http://evil) *a* <@all> & \"q\"",
          .at = TimePoint(std::chrono::seconds(1'700'000'000)),
          .reminder = 2,
          .more = 412,
          .attributes = {{"shard", "7"}},
          .link = "https://recourse.example/tasks/tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV?a=1&b=2"};
}

class HttpChannelTest : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kNow{1'700'000'000};

  // What the server answers from now on.
  void answer(int status, const std::string& body = "") {
    reply_ = {.bytes = http::TestServer::answer(status, body)};
  }
  void hang() { reply_ = http::TestServer::silence(); }

  [[nodiscard]] Endpoint endpoint(const std::string& target = "/hook") const {
    return {.url = server_.url(target)};
  }
  [[nodiscard]] http::TestServer::Seen seen() const { return server_.seen().at(0); }
  [[nodiscard]] boost::json::object body() const {
    return boost::json::parse(seen().body).as_object();
  }

  ManualClock clock_{TimePoint(kNow)};
  http::TestServer::Reply reply_{.bytes = http::TestServer::answer(200)};
  // Told before it is asked: one thread writes, the server's reads after it.
  http::TestServer server_{[this](const http::TestServer::Seen&) { return reply_; }};
  std::unique_ptr<http::Client> client_ = http::Client::open({}).value();
};

}  // namespace recourse::notify
