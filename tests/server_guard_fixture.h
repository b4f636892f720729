// For tests: a server that guards a shop's tables, and the shop's own service, which mends rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/test_server.h"
#include "tests/guard_shop.h"
#include "tests/server_fixture.h"

namespace recourse::app {

class ApiGuard : public ApiTest {
 protected:
  ApiGuard() : shop_(GetParam(), folder_) {
    environment_["SHOP"] = shop_.url();
    service_ = std::make_unique<http::TestServer>(
        [this](const http::TestServer::Seen& seen) { return answer(seen); });
  }
  ~ApiGuard() override {
    server_.reset();
    service_.reset();
  }

  // `more` goes on in the guard's map, `file` in the file. Waits until every guard has scanned
  // once: the first scan comes when a table's indexes are there, which may be in the middle of a
  // test.
  void start_guard(const std::string& more = "", const std::string& file = "") {
    start_guard_unscanned(more, file);
    ASSERT_TRUE(eventually([&] { return have_scanned(); }));
  }
  // Where a guard cannot scan yet.
  void start_guard_unscanned(const std::string& more, const std::string& file) {
    start("  work: {type: worker}\n",
          "guards:\n  user-bill:\n    table: user_bill\n    service-name: 账单\n    user-field: "
          "user_id\n"
          "    status-field: status\n    success-value: SUCCESS\n    fail-value: FAIL\n"
          "    database: env:SHOP\n" +
              usual("min-interval-seconds", more) + usual("scan-interval-seconds", more) +
              "    check: '" + service_->url("/check") + "'\n    handle: {url: '" +
              service_->url("/handle") + "', signing: 'env:SIGNING'}\n" + more + file);
  }

  // All guards.
  bool have_scanned() {
    const array guards = get("/api/v1/guards").items();
    return !guards.empty() && std::ranges::all_of(guards, [](const value& guard) {
      return guard.at("counters").at("scans").to_number<int>() > 0;
    });
  }

  // Of the service, for guards of a test's own.
  [[nodiscard]] std::string service_url(const char* path) const { return service_->url(path); }

  // As quick as can be, where nothing else is said.
  static std::string usual(const std::string& key, const std::string& more) {
    return more.find(key) == std::string::npos ? "    " + key + ": 1\n" : "";
  }
  // In 4000, as business code says it.
  void mark(int id) { EXPECT_EQ(post(row(id) + "/abnormal", "{}").status, 200); }
  static std::string row(int id) { return "/api/v1/guards/user-bill/rows/" + std::to_string(id); }
  bool becomes(int id, const std::string& err_status) {
    return eventually([&] { return shop_.cell("err_status", id) == err_status; });
  }
  // In trouble, without any server's doing.
  void spoil(int id, int err_status, const std::string& since,
             const std::string& table = "user_bill") {
    shop_.run("UPDATE " + table + " SET err_status = " + std::to_string(err_status) +
              ", err_start_time = '" + since + "' WHERE id = " + std::to_string(id));
  }
  Reply source_call(const std::string& target, const std::string& body = "",
                    const std::string& who = "ADMIN") {
    return call_plainly(http::Method::kPost, target, body, who);
  }
  std::vector<http::TestServer::Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  tests::Shop shop_;
  // What the service does when it is asked to mend a row.
  std::atomic<bool> mends_ = true;
  std::atomic<bool> is_mended_ = false;
  std::atomic<int> check_status_ = 200;

 private:
  http::TestServer::Reply answer(const http::TestServer::Seen& asked) {
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(asked);
    }
    if (asked.target == "/check") {
      return {http::TestServer::answer(
          check_status_, is_mended_ ? R"({"success":true})" : R"({"success":false})")};
    }
    if (mends_) is_mended_ = true;
    return {http::TestServer::answer(mends_ ? 200 : 500, mends_ ? "" : "out of paper")};
  }

  std::mutex mutex_;
  std::vector<http::TestServer::Seen> seen_;
  std::unique_ptr<http::TestServer> service_;
};

inline constexpr const char* kShops[] = {"sqlite", "postgres", "mariadb"};

}  // namespace recourse::app
