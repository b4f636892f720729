// sql::Connection on libpq. How many round trips a transaction costs is decided here: BEGIN waits
// for the first statement, what may come later waits for the next one, and COMMIT takes along what
// is left. "begin, execute, execute_later, commit" is two round trips.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sql/connection.h"
#include "sql/postgres/arrays.h"
#include "sql/postgres/binding.h"
#include "sql/postgres/pipeline.h"

namespace recourse::sql::postgres {

class PostgresConnection : public Connection {
 public:
  // Made by connect().
  explicit PostgresConnection(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

  void set_deadline(Deadline deadline) override;
  Result<> set_lock_patience(Duration patience) override;

  Result<> begin() override;
  // After an error the transaction is rolled back already.
  Result<> commit() override;
  void rollback() override;

  Result<std::int64_t> execute(std::string_view statement, std::span<const Value> values) override;
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values) override;
  // Outside of a transaction it is sent at once. With no columns it runs once.
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const Value> values) override;
  Result<> query(std::string_view statement, std::span<const Value> values, OnRow on_row) override;
  Result<> run(std::string_view statement) override;
  [[nodiscard]] bool usable() const override;
  Result<> set_idle_limit(Duration limit) override;
  [[nodiscard]] int socket() const override;

  // libpq's own handle, blocking and outside of pipeline mode, within the open transaction. Nothing
  // else may be called until it is taken back; then the transaction must still be open.
  Result<PGconn*> lend();
  Result<> take_back();

  // The same with values in wire format, whole arrays among them.
  virtual Result<> query_with(std::string_view statement, std::span<const Param> params,
                              OnRow on_row);
  Result<> execute_later_with(std::string_view statement, std::span<const Param> params);

 private:
  [[nodiscard]] Result<> check_time() const;
  Result<> send(std::string_view statement, Role role);
  Result<> send_rows(std::string_view statement, std::size_t columns, std::span<const Value> values,
                     Role role);
  Result<> send_alone(std::string_view statement, Role role);
  Result<> query_bound(std::string_view statement, OnRow on_row);

  Pipeline pipeline_;
  Binding binding_;
  bool in_transaction_ = false;
  bool begin_waits_ = false;
  bool is_lent_ = false;
  std::optional<Duration> idle_limit_;
};

}  // namespace recourse::sql::postgres
