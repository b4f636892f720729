// sql::Connection over a wire: transactions, settings, and what an error means for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "sql/mysql/connect.h"
#include "sql/mysql/server.h"
#include "sql/mysql/statement_cache.h"
#include "sql/mysql/wire.h"

namespace recourse::sql::mysql {

class WireSession final : public Session {
 public:
  WireSession(Wire wire, Server server, std::chrono::seconds lock_wait)
      : server_(std::move(server)),
        usual_lock_wait_s_(static_cast<int>(lock_wait.count())),
        lock_wait_s_(usual_lock_wait_s_),
        wire_(std::move(wire)) {}

  void set_deadline(Deadline deadline) override { wire_.set_deadline(deadline); }
  Result<> set_lock_patience(Duration patience) override;
  Result<> begin() override;
  Result<> commit() override;
  void rollback() override;
  Result<std::int64_t> execute(std::string_view statement, std::span<const Value> values) override;
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values) override;
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const Value> values) override;
  Result<> query(std::string_view statement, std::span<const Value> values, OnRow on_row) override;
  Result<> run(std::string_view statement) override;
  [[nodiscard]] bool usable() const override { return !wire_.is_lost(); }
  [[nodiscard]] const Server& server() const override { return server_; }
  Result<> set_idle_limit(Duration limit) override;
  [[nodiscard]] int socket() const override { return wire_.socket(); }
  Result<st_mysql*> lend() override;
  Result<> take_back() override;

 private:
  // Deadlines are what ends a wait. These bound what the server goes on doing, and the locks it
  // keeps, for a client that has given up.
  static constexpr int kLockWaitMaxS = static_cast<int>(kLockWait.count());
  static constexpr int kStatementMaxS = 60;

  // Whether something may be sent now.
  Result<> check() const;
  Result<> settle(const Settings& wanted);
  [[nodiscard]] Settings settings_for(std::string_view statement) const;
  // Ready to be bound and executed.
  Result<MYSQL_STMT*> prepare(std::string_view statement);

  Result<std::int64_t> execute_one(std::string_view statement, std::span<const Value> values);
  Result<std::int64_t> execute_each(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values);
  Result<std::int64_t> execute_bulk(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values);
  void end_transaction();
  Result<> query_rows(std::string_view statement, std::span<const Value> values, OnRow on_row);

  // How many of the rows fit into one message; kInvalid when not even the first does.
  [[nodiscard]] Result<std::size_t> rows_that_fit(std::size_t columns,
                                                  std::span<const Value> values) const;

  // A failed statement may have done half of its work, or have lost the whole transaction without
  // saying so: nothing may be added to what is left, least of all a COMMIT.
  template <class T>
  Result<T> remember(Result<T> result) {
    if (!result && in_transaction_ && !failure_) failure_ = result.error();
    return result;
  }

  Server server_;
  // What the session has; empty before anything was sent.
  std::optional<Settings> settings_;
  const int usual_lock_wait_s_;
  int lock_wait_s_;
  bool in_transaction_ = false;
  // The server knows of the transaction.
  bool is_open_ = false;
  std::optional<int> idle_limit_s_;
  std::optional<Error> failure_;
  StatementCache statements_;
  // Last: closing it tells the statements that there is nobody left to tell.
  Wire wire_;
};

}  // namespace recourse::sql::mysql
