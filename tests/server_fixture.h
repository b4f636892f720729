// For tests: a whole server as users run it, and a client that looks at every refusal.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "app/config/load.h"
#include "app/running_server.h"
#include "base/log.h"
#include "http/client.h"

namespace recourse::app {

using namespace std::chrono_literals;
using boost::json::array;
using boost::json::object;
using boost::json::value;

inline constexpr const char* kStores[] = {"memory", "sqlite"};

inline std::string store_name(const testing::TestParamInfo<const char*>& store) {
  return store.param;
}

struct Reply {
  int status = 0;
  http::Headers headers = {};
  std::string body = {};

  [[nodiscard]] value json() const { return boost::json::parse(body); }
  // A text of the body's object.
  [[nodiscard]] std::string text(std::string_view name) const {
    return std::string(json().at(name).as_string());
  }
  [[nodiscard]] array items() const { return json().at("items").as_array(); }
};

// One problem document, whole.
inline void expect_problem(const Reply& reply, const std::string& of) {
  EXPECT_EQ(reply.headers.find("Content-Type"), "application/problem+json") << of;
  boost::json::error_code error;
  const value body = boost::json::parse(reply.body, error);
  ASSERT_TRUE(!error && body.is_object()) << of << ": " << reply.body;
  for (const char* name : {"type", "title", "detail"}) {
    const value* member = body.as_object().if_contains(name);
    EXPECT_TRUE(member != nullptr && member->is_string() && !member->as_string().empty())
        << of << ": " << reply.body;
  }
  EXPECT_EQ(body.at("status").to_number<int>(), reply.status) << of;
  if (reply.status == 429 || reply.status == 503) {
    EXPECT_TRUE(reply.headers.find("Retry-After")) << of;
  }
}

// The text format, as a scraper reads it; answers the families' names.
inline std::set<std::string> families_in_order(const std::string& metrics) {
  std::set<std::string> families;
  std::set<std::string> series;
  std::string type;
  std::string family;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      words >> family >> type;
      EXPECT_TRUE(families.insert(family).second) << family << " comes twice";
      EXPECT_TRUE(family.starts_with("recourse_")) << family;
      EXPECT_EQ(family.ends_with("_total"), type == "counter") << family;
      continue;
    }
    EXPECT_TRUE(line.starts_with(family)) << line << " is not of " << family;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line << " comes twice";
  }
  return families;
}

class ApiTest : public testing::TestWithParam<const char*> {
 protected:
  // Names are what the audit shows.
  inline static const Environment kSecrets = {
      {"VIEWER", "rcs_canary_viewer_0123456789"},
      {"OPERATOR", "rcs_canary_operator_012345"},
      {"ADMIN", "rcs_canary_admin_01234567890"},
      {"MINE", "rcs_canary_mine_012345678901"},
      {"FOREIGN", "rcs_canary_foreign_01234567"},
      {"SIGNING", "whsec_Y2FuYXJ5LXNpZ25pbmcta2V5LTEyMzQ1"},
      {"HEADER", "canary-secret-header-0123"},
  };

  ApiTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "recourse-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    client_ = *http::Client::open({});
  }
  ~ApiTest() override {
    server_.reset();
    client_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // What `kinds:` has, two spaces deep; `retry` goes on in its block.
  void start(const std::string& kinds = "  work: {type: worker}\n", const std::string& more = "",
             const std::string& retry = "") {
    const std::string store =
        std::string(GetParam()) == "memory" ? "memory:" : "sqlite:" + (folder_ / "db").string();
    const std::string text = R"(
server: {listen: '127.0.0.1:0'}
store: {url: ')" + store + R"('}
auth:
  tokens:
    - {name: vera, role: viewer, secret: 'env:VIEWER'}
    - {name: olga, role: operator, secret: 'env:OPERATOR'}
    - {name: adam, role: admin, secret: 'env:ADMIN'}
    - {name: mina, role: operator, tenant: mine, secret: 'env:MINE'}
    - {name: fred, role: admin, tenant: other, secret: 'env:FOREIGN'}
retry: {scan: {initial-delay: 10ms, period: 50ms})" +
                             retry + R"(}
kinds:
)" + kinds + more;
    const Loaded loaded =
        parse_config({.file = "recourse.yaml", .text = text, .environment = environment_});
    for (const Problem& problem : loaded.problems) {
      if (!loaded.config) ADD_FAILURE() << to_string(problem);
    }
    ASSERT_TRUE(loaded.config);
    auto server = RunningServer::start(*loaded.config, environment_, log_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    // Its first heartbeat is under way.
    ASSERT_TRUE(eventually([this] { return is_ready(); }));
  }

  bool is_ready() {
    const auto result = http::fetch(
        *client_, {.method = http::Method::kGet,
                   .url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/readyz"});
    const auto* answer = std::get_if<http::Answer>(&result);
    return answer != nullptr && answer->status == 200;
  }

  // `who` is a name of kSecrets, a whole token, or empty for none.
  Reply call(http::Method method, const std::string& target, const std::string& body = "",
             const std::string& who = "ADMIN", http::Headers headers = {}) {
    Reply reply = call_plainly(method, target, body, who, std::move(headers));
    if (reply.status >= 400) {
      expect_problem(reply, std::string(http::to_string(method)) + " " + target + " by " + who);
    }
    return reply;
  }
  // The same where refusals have another shape.
  Reply call_plainly(http::Method method, const std::string& target, const std::string& body = "",
                     const std::string& who = "ADMIN", http::Headers headers = {}) {
    if (!who.empty()) {
      const auto known = kSecrets.find(who);
      headers.set("Authorization", "Bearer " + (known == kSecrets.end() ? who : known->second));
    }
    const http::CallResult result = http::fetch(
        *client_, {.method = method,
                   .url = "http://127.0.0.1:" + std::to_string(server_->port()) + target,
                   .headers = std::move(headers),
                   .body = body,
                   .timeout = 30s,
                   .answer_bytes_max = std::size_t{4} << 20U});
    const std::string of = std::string(http::to_string(method)) + " " + target + " by " + who;
    if (const auto* failed = std::get_if<http::CallFailed>(&result)) {
      ADD_FAILURE() << of << ": " << failed->message;
      return {};
    }
    const auto& answer = std::get<http::Answer>(result);
    return {answer.status, answer.headers, answer.body};
  }
  Reply get(const std::string& target, const std::string& who = "ADMIN") {
    return call(http::Method::kGet, target, "", who);
  }
  Reply post(const std::string& target, const std::string& body = "",
             const std::string& who = "ADMIN", http::Headers headers = {}) {
    return call(http::Method::kPost, target, body, who, std::move(headers));
  }

  // Of a task that must be accepted.
  std::string submit(const std::string& body, const std::string& who = "ADMIN") {
    const Reply reply = post("/api/v1/tasks", body, who);
    EXPECT_EQ(reply.status, 201) << reply.body;
    return reply.status == 201 ? reply.text("id") : std::string();
  }
  std::string state_of(const std::string& id) { return get("/api/v1/tasks/" + id).text("state"); }
  // Of one task of the kind `work`; the whole item.
  object lease_one(const std::string& lease = "30s") {
    const Reply reply = post(
        "/api/v1/leases",
        R"({"worker":"w","kinds":["work"],"wait":"10s","lease":")" + lease + R"("})", "OPERATOR");
    EXPECT_EQ(reply.status, 200) << reply.body;
    const array items = reply.items();
    EXPECT_EQ(items.size(), 1U) << reply.body;
    return items.empty() ? object() : items.front().as_object();
  }
  static std::string ticket_of(const object& leased) {
    return std::string(leased.at("ticket").as_string());
  }

  // Until it is so; tests that need this say why they cannot be told.
  static bool eventually(const std::function<bool()>& is_so, Duration within = 20s) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  // What the configuration may name.
  Environment environment_ = kSecrets;
  std::filesystem::path folder_;
  MemoryLog log_{100'000};
  std::unique_ptr<http::Client> client_;
  std::unique_ptr<RunningServer> server_;
};

}  // namespace recourse::app
