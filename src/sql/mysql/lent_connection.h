// sql::Connection on somebody else's libmariadb handle, inside of that one's open transaction.
//
// begin() sets a savepoint, commit() releases it and rollback() goes back to it, so that an error
// of ours leaves the owner's transaction as it was. No setting is changed and nothing stays
// prepared. How long a statement may wait is the owner's to set: deadlines and lock patience have
// no effect here.
//
// Thread safety: none.
#pragma once

#include <mysql.h>

#include <string>

#include "sql/connection.h"
#include "sql/mysql/wire.h"

namespace recourse::sql::mysql {

class LentConnection final : public Connection {
 public:
  // kInvalid where it is not fit to be lent: no open transaction, another character set, answers
  // that nobody has read.
  static Result<LentConnection> on(MYSQL* lent);

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
  // Its owner's transaction is open. A deadlock ends all of it, not only what we did.
  [[nodiscard]] bool usable() const override;

 private:
  explicit LentConnection(MYSQL* lent) : lent_(lent), session_(mysql_thread_id(lent)) {}

  Result<StatementHandle> prepare(std::string_view statement);
  Result<> execute(MYSQL_STMT& statement, std::span<const Value> values);
  // A handle may be set to reconnect by itself, and then the transaction is gone without an error.
  [[nodiscard]] Result<> same_session() const;

  MYSQL* lent_;  // its owner's
  unsigned long session_;
};

}  // namespace recourse::sql::mysql
