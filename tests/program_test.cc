// The program as users run it: processes of `recourse serve`, a real service behind them, and only
// HTTP between them and the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <chrono>
#include <list>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "http/client.h"
#include "http/server.h"
#include "tests/support/server_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using boost::json::object;
using boost::json::value;

constexpr auto kPatience = 60s;

template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return std::move(result).value();
}

// True once `holds`, false after too long.
template <class Condition>
bool comes_true(Condition holds) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(50ms);
  }
  return true;
}

// Refuses each task as often as it is told to, and takes its time.
class Downstream {
 public:
  explicit Downstream(int refusals) : refusals_(refusals) {}

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + "/work";
  }

 private:
  void answer(const http::Request& request, http::Responder responder) {
    const std::string task(request.headers.find("Recourse-Task").value_or(""));
    int seen = 0;
    {
      MutexLock lock(mutex_);
      seen = ++seen_[task];
    }
    // Slow enough that one node cannot have it all.
    const auto reply = std::make_shared<http::Responder>(std::move(responder));
    MutexLock lock(mutex_);
    answers_.emplace_back([reply, status = seen > refusals_ ? 200 : 503] {
      std::this_thread::sleep_for(20ms);
      std::move(*reply).send({.status = status, .body = "seen"});
    });
  }

  const int refusals_;
  Mutex mutex_;
  std::map<std::string, int> seen_ GUARDED_BY(mutex_);
  std::list<std::jthread> answers_ GUARDED_BY(mutex_);
  NullLog log_;
  std::unique_ptr<http::Server> server_ = must(http::Server::start(
      {.listen = "127.0.0.1:0"},
      [this](const http::Request& request, http::Responder responder) {
        answer(request, std::move(responder));
      },
      [](int status, std::string_view) { return http::Response{.status = status}; }, log_));
};

class Program : public testing::Test {
 protected:
  struct Reply {
    int status = 0;
    value body;
  };

  Reply call(const ServerProcess& server, http::Method method, const std::string& path,
             const std::string& body = "") {
    const auto result = http::fetch(*client_, {.method = method,
                                               .url = server.url() + path,
                                               .body = body,
                                               .answer_bytes_max = 4 * 1024 * 1024});
    const auto* answer = std::get_if<http::Answer>(&result);
    if (answer == nullptr) return {};
    boost::json::error_code ignored;
    return {answer->status, boost::json::parse(answer->body, ignored)};
  }
  Reply get(const ServerProcess& server, const std::string& path) {
    return call(server, http::Method::kGet, path);
  }

  void submit(const ServerProcess& server, int count) {
    std::string tasks;
    for (int i = 0; i < count; ++i) {
      tasks += (i == 0 ? "" : ",") + std::string(R"({"kind":"work","payload":{"n":1}})");
    }
    const Reply reply =
        call(server, http::Method::kPost, "/api/v1/tasks/batch", R"({"tasks":[)" + tasks + "]}");
    ASSERT_EQ(reply.status, 200);
    ASSERT_EQ(reply.body.at("refused").as_int64(), 0);
  }
  std::int64_t succeeded(const ServerProcess& server) {
    const Reply reply = get(server, "/api/v1/stats");
    if (reply.status != 200) return -1;
    const object& states = reply.body.at("states").as_object();
    return states.contains("succeeded") ? states.at("succeeded").as_int64() : 0;
  }
  std::set<std::string> finishers(const ServerProcess& server) {
    std::set<std::string> names;
    const Reply reply = get(server, "/api/v1/tasks?state=succeeded&limit=500");
    for (const value& item : reply.body.at("items").as_array()) {
      names.emplace(item.at("ended_by").as_string());
    }
    return names;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<http::Client> client_ = must(http::Client::open({}));
};

std::string config_of(const std::string& name, const std::string& store, const std::string& url) {
  return "server: {listen: '127.0.0.1:0'}\nnode: {name: " + name + "}\nstore: {" + store +
         "}\n"
         "retry: {stick: {lease-ttl: 2s, renew-ahead: 1s}, scan: {initial-delay: 100, period: "
         "200}}\n"
         "kinds:\n  work: {type: http, url: '" +
         url +
         "', concurrency: 2, timeout: 5s, breaker: false, "
         "backoff: {base: 500ms, min: 100ms}}\n";
}

// The README's promise: refused twice, done at the third attempt, and its history shows it.
TEST_F(Program, FinishesWhatAFlakyServiceRefusedTwice) {
  const Downstream downstream(2);
  ServerProcess server(
      directory_.path(), "one",
      config_of("one", "data-dir: " + directory_.path().string(), downstream.url()));

  const Reply made = call(server, http::Method::kPost, "/api/v1/tasks",
                          R"({"kind":"work","payload":{"big":12345678901234567890.10}})");
  ASSERT_EQ(made.status, 201);
  const std::string id(made.body.at("id").as_string());
  EXPECT_TRUE(comes_true([&] { return succeeded(server) == 1; })) << server.logged();

  const Reply shown = get(server, "/api/v1/tasks/" + id);
  EXPECT_EQ(shown.body.at("payload").as_string(), R"({"big":12345678901234567890.10})");
  const Reply history = get(server, "/api/v1/tasks/" + id + "/attempts");
  const auto& attempts = history.body.at("items").as_array();
  ASSERT_EQ(attempts.size(), 3U);
  EXPECT_EQ(attempts[0].at("error").at("code").as_string(), "HTTP_503");
  EXPECT_EQ(attempts[1].at("error").at("code").as_string(), "HTTP_503");
  EXPECT_EQ(attempts[2].at("decision").as_string(), "succeed");
  EXPECT_EQ(server.stop(SIGTERM), 0) << server.logged();
  EXPECT_THAT(server.logged(), testing::HasSubstr(R"("event":"stopped")"));
}

TEST_F(Program, RefusesASecondServerOnOneFile) {
  const Downstream downstream(0);
  const std::string config =
      config_of("one", "data-dir: " + directory_.path().string(), downstream.url());
  const ServerProcess first(directory_.path(), "one", config);
  const auto file = directory_.path() / "one.yaml";

  const std::string command =
      std::string(RECOURSE_PROGRAM) + " serve --config " + file.string() + " 2>&1";
  FILE* second = ::popen(command.c_str(), "r");
  std::string said;
  for (int c = std::fgetc(second); c != EOF; c = std::fgetc(second)) said += static_cast<char>(c);

  EXPECT_NE(::pclose(second), 0);
  EXPECT_THAT(said, testing::HasSubstr("recourse:"));
}

// Of FreshPostgres or FreshMariadb.
template <class Database>
class ProgramOnServer : public Program {};
using Databases = testing::Types<FreshPostgres, FreshMariadb>;
TYPED_TEST_SUITE(ProgramOnServer, Databases);

TYPED_TEST(ProgramOnServer, TwoShareTheWorkAndOneFinishesWhatTheOtherLeft) {
  const TypeParam database;
  const Downstream downstream(1);
  const std::string store = "url: '" + database.url() + "'";
  const auto path = this->directory_.path();
  ServerProcess first(path, "first", config_of("first", store, downstream.url()));
  ServerProcess second(path, "second", config_of("second", store, downstream.url()));

  this->submit(first, 300);
  EXPECT_TRUE(comes_true([&] { return this->succeeded(second) == 300; })) << second.logged();
  EXPECT_EQ(this->finishers(second).size(), 2U);

  this->submit(first, 300);
  first.stop(SIGKILL);
  EXPECT_TRUE(comes_true([&] { return this->succeeded(second) == 600; })) << second.logged();
  EXPECT_EQ(second.stop(SIGTERM), 0);
}

}  // namespace
}  // namespace recourse::tests
