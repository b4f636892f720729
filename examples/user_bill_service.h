// A service that pays users' bills at a bank which is sometimes down, and whose stuck bills heal
// themselves in the table they are in.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "recourse/create.h"
#include "recourse/guard.h"

// Idempotent by the bill's id, as what is retried must be.
class Bank {
 public:
  void pay(std::int64_t bill, int amount) {
    const std::lock_guard lock(mutex_);
    if (refused_.contains(bill)) throw std::runtime_error("the bank refuses this bill");
    if (is_down_) throw std::runtime_error("the bank does not answer");
    paid_.emplace(bill, amount);
  }
  [[nodiscard]] bool has_paid(std::int64_t bill) const {
    const std::lock_guard lock(mutex_);
    return paid_.contains(bill);
  }
  void set_down(bool down) {
    const std::lock_guard lock(mutex_);
    is_down_ = down;
  }
  void refuse(std::int64_t bill) {
    const std::lock_guard lock(mutex_);
    refused_.insert(bill);
  }

 private:
  mutable std::mutex mutex_;
  bool is_down_ = false;
  std::set<std::int64_t> refused_;
  std::map<std::int64_t, int> paid_;
};

class UserBillService : public recourse::Guard {
 public:
  // The source's settings, with shorter waits so that the example ends soon.
  UserBillService(recourse::Create& database, Bank& bank)
      : Guard({.table = "user_bill",
               .user_field = "user_id",
               .status_field = "status",
               .success_value = "SUCCESS",
               .fail_value = "FAIL",
               .service_name = "异常处理示例",
               .min_interval = std::chrono::seconds(1),
               .timeout_window = std::chrono::seconds(180),
               .max_retries = 2,
               .remind_every = std::chrono::seconds(1),
               .scan_every = std::chrono::seconds(1)}),
        database_(database),
        bank_(bank) {}

  static constexpr const char* kTable =
      "CREATE TABLE user_bill (id BIGINT NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, amount INT "
      "NOT NULL, status VARCHAR(20) NOT NULL)";

  // The entry of the business: whoever has a bill that is stuck settles that one first.
  std::string pay(std::int64_t bill, std::int64_t user, int amount) {
    if (const auto free = check_user_err(std::to_string(user)); !free) {
      return "refused: " + free.error().message;
    }
    // Committed before anything can fail: a bill that is rolled back cannot be marked.
    write("INSERT INTO user_bill (id, user_id, amount, status) VALUES (?, ?, ?, 'INIT')",
          {bill, user, std::int64_t{amount}});
    try {
      bank_.pay(bill, amount);
      write("UPDATE user_bill SET status = 'SUCCESS' WHERE id = ?", {bill});
      return "paid";
    } catch (const std::exception& error) {
      write("UPDATE user_bill SET status = 'FAIL' WHERE id = ?", {bill});
      mark_abnormal(bill, std::to_string(user)).value();
      return std::string("will be paid later: ") + error.what();
    }
  }

  bool check_status(const recourse::RowId& id) override {
    return bank_.has_paid(std::get<std::int64_t>(id));
  }
  bool handle_exception(const recourse::RowId& id) override {
    bank_.pay(std::get<std::int64_t>(id), 10);  // what it throws is a failure
    return true;
  }
  [[nodiscard]] std::string manual_success_route() const override {
    return "/api/user/admin/manual-bill-success";
  }

 private:
  void write(const char* statement, const recourse::SqlValues& values) {
    database_
        .transact(std::chrono::seconds(5),
                  [&](recourse::CreateTransaction& own) -> recourse::Result<> {
                    const auto done = own.execute(statement, values);
                    return done ? recourse::Result<>() : recourse::fail(done.error());
                  })
        .value();
  }

  recourse::Create& database_;
  Bank& bank_;
};
