// A guard as a user of the library has it, beside the application whose table it watches.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "recourse/guard.h"
#include "tests/engine_fixture.h"
#include "tests/support/application.h"

namespace recourse::tests {

inline std::string bill_table(const std::string& id_type = "BIGINT") {
  return "CREATE TABLE user_bill (id " + id_type +
         " NOT NULL PRIMARY KEY, user_id VARCHAR(40), status VARCHAR(20) NOT NULL, amount INT)";
}

// Fails unless it is told otherwise, and counts what is asked of it.
class Bills : public Guard {
 public:
  explicit Bills(GuardOptions options) : Guard(std::move(options)) {}

  std::function<bool(const RowId&)> on_check = [](const RowId&) { return false; };
  std::function<bool(const RowId&)> on_handle = [](const RowId&) { return false; };
  std::string route = "/api/admin/manual-bill-success";

  bool check_status(const RowId& id) override {
    write("check " + to_string(id));
    return on_check(id);
  }
  bool handle_exception(const RowId& id) override {
    write("handle " + to_string(id));
    return on_handle(id);
  }
  [[nodiscard]] std::string manual_success_route() const override { return route; }

  // In their order.
  [[nodiscard]] std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  [[nodiscard]] int handled() const {
    int count = 0;
    for (const std::string& call : calls()) count += call.starts_with("handle") ? 1 : 0;
    return count;
  }

 private:
  void write(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
};

// What people are told, and whether they could be.
class Inbox : public NoticeChannel {
 public:
  [[nodiscard]] std::string name() const override { return "inbox"; }
  Result<> send(const Notice& notice, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    if (is_down_) return fail(ErrorCode::kInvalid, "nobody reads this");
    notices_.push_back(notice);
    return {};
  }
  void set_down(bool down) {
    const std::lock_guard lock(mutex_);
    is_down_ = down;
  }
  [[nodiscard]] std::vector<Notice> notices() const {
    const std::lock_guard lock(mutex_);
    return notices_;
  }

 private:
  mutable std::mutex mutex_;
  bool is_down_ = false;
  std::vector<Notice> notices_;
};

// Lines of the engine's log.
class LogLines {
 public:
  std::function<void(std::string_view, std::string_view)> sink() {
    return [this](std::string_view, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
  }
  [[nodiscard]] int count(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    int found = 0;
    for (const std::string& line : lines_) found += line.find(text) != std::string::npos ? 1 : 0;
    return found;
  }
  [[nodiscard]] std::string all() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class GuardOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  GuardOnStore()
      : place_(GetParam()),
        app_(place_.url().starts_with("sqlite:")
                 ? "sqlite:" + (directory_.path() / "app.db").string()
                 : place_.url()),
        engine_(Engine::open({.store = place_.url(),
                              .lease_ttl = 3s,
                              .renew_ahead = 1s,
                              .scan_period = 100ms,
                              .log = log_.sink()})
                    .value()) {}

  // The source's example. What waits for an hour is made due by moving the row's own clock.
  GuardOptions quick() {
    GuardOptions options{.database = app_.url(),
                         .table = "user_bill",
                         .user_field = "user_id",
                         .status_field = "status",
                         .success_value = "SUCCESS",
                         .fail_value = "FAIL",
                         .service_name = "异常处理示例",
                         .min_interval = 1h,
                         .timeout_window = 24h,
                         .max_retries = 2,
                         .remind_every = 1h,
                         .scan_every = 100ms,
                         .attempt_timeout = 2s};
    options.kind.breaker = false;
    return options;
  }
  std::shared_ptr<Bills> add(const GuardOptions& options) {
    auto guards = Guards::on(engine_);
    if (!guards) return nullptr;
    return guards->add(std::make_shared<Bills>(options));
  }
  // With one bill that has failed, of user u-1.
  std::shared_ptr<Bills> begin(const GuardOptions& options) {
    app_.execute(bill_table());
    app_.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL', 10)");
    return add(options);
  }
  void start() {
    const Result<> started = engine_.start();
    ASSERT_TRUE(started) << started.error().message;
  }

  // The time in a column of a row has come, as soon as the row waits for it in this state.
  void comes(const std::string& column, const std::string& state) {
    const std::string statement = "UPDATE user_bill SET " + column +
                                  " = '2020-01-01 00:00:00' WHERE id = 1 AND " + column +
                                  " > '2020-01-02 00:00:00' AND " + state;
    ASSERT_TRUE(eventually([&] { return app_.execute(statement) == 1; })) << log_.all();
  }
  void retry_comes(int retries) {
    comes("err_next_retry_time",
          "err_status = 4000 AND COALESCE(err_retry_count, 0) = " + std::to_string(retries));
  }
  void reminder_comes(int told) {
    comes("err_next_remind_staff_time",
          "COALESCE(err_manual_notify_count, 0) = " + std::to_string(told));
  }
  // Row 1 has failed, and its first retry comes at once.
  void fails(Bills& bills) {
    bills.mark_abnormal(1).value();
    retry_comes(0);
  }

  std::int64_t number(const std::string& column, int id = 1) {
    return app_.number("SELECT " + column + " FROM user_bill WHERE id = " + std::to_string(id));
  }
  std::string status(int id = 1) {
    return app_.text("SELECT status FROM user_bill WHERE id = " + std::to_string(id));
  }
  bool reaches(std::int64_t err_status, int id = 1, Duration within = 30s) {
    return eventually([&] { return number("COALESCE(err_status, 0)", id) == err_status; }, within);
  }

  // What is written into the row is counted a moment later.
  static bool counts(const Bills& bills, std::uint64_t GuardFigures::*figure, std::uint64_t count) {
    return eventually([&] { return bills.figures().*figure == count; });
  }

  LogLines log_;
  TemporaryDirectory directory_;
  Place place_;
  Application app_;
  Engine engine_;
};

inline const auto kGuardStores = ::testing::Values("Sqlite", "Postgres", "Mariadb");
inline std::string guard_store_name(const ::testing::TestParamInfo<const char*>& one) {
  return one.param;
}

}  // namespace recourse::tests
