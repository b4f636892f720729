// sql::Connection on somebody else's libpq connection, inside of that one's open transaction.
//
// begin() sets a savepoint, commit() releases it and rollback() goes back to it, so that an error
// of ours leaves the owner's transaction as it was. No setting is changed and nothing stays
// prepared. How long a statement may wait is the owner's to set: deadlines and lock patience have
// no effect here.
//
// Thread safety: none.
#pragma once

#include <libpq-fe.h>

#include "sql/connection.h"
#include "sql/postgres/binding.h"
#include "sql/postgres/handles.h"

namespace recourse::sql::postgres {

class LentConnection final : public Connection {
 public:
  // kInvalid where it is not fit to be lent: no open transaction, a failed one, another encoding.
  static Result<LentConnection> on(PGconn* lent);

  void set_deadline(Deadline) override {}
  Result<> set_lock_patience(Duration) override { return {}; }

  Result<> begin() override { return run("SAVEPOINT recourse_lent"); }
  Result<> commit() override { return run("RELEASE SAVEPOINT recourse_lent"); }
  void rollback() override;

  Result<std::int64_t> execute(std::string_view statement, std::span<const Value> values) override;
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values) override;
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const Value> values) override;
  Result<> query(std::string_view statement, std::span<const Value> values, OnRow on_row) override;
  Result<> run(std::string_view statement) override;
  // Its owner's transaction is open and takes statements.
  [[nodiscard]] bool usable() const override;

 private:
  explicit LentConnection(PGconn* lent) : lent_(lent) {}

  Result<ResultHandle> send(std::string_view statement, std::span<const Value> values);

  PGconn* lent_;  // its owner's
  Binding binding_;
};

}  // namespace recourse::sql::postgres
