// A guest on a connection of ours.
#pragma once

#include <cstdint>
#include <vector>

#include "sql/connection.h"
#include "store/guest.h"
#include "store/relational/lent.h"
#include "store/relational/transaction.h"

namespace recourse::store::relational {

// A user's statement on any connection.
Result<std::int64_t> execute_for_user(sql::Connection& connection, std::string_view statement,
                                      const SqlValues& values);
Result<std::vector<SqlRow>> query_for_user(sql::Connection& connection, std::string_view statement,
                                           const SqlValues& values);

struct GuestWords {
  const Dialect& dialect;
  const LentWords& keys;
  std::int64_t schema;
};

class ConnectionGuest : public Guest {
 public:
  // All of it must outlive the guest.
  ConnectionGuest(sql::Connection& connection, const GuestWords& words)
      : connection_(connection), words_(words) {}

  Result<std::int64_t> execute(std::string_view statement, const SqlValues& values) override;
  Result<std::vector<SqlRow>> query(std::string_view statement, const SqlValues& values) override;
  Result<InsertAnswer> submit(std::span<const Submission> batch) override;
  Result<> settle() override { return ready(); }
  Result<> set_savepoint() override;
  Result<> undo_to_savepoint() override;
  Result<> mark_created(const CreateHold& hold, std::string_view value, Mark mark) override;

 protected:
  // Before each use: takes the connection back where it was lent.
  virtual Result<> ready() { return {}; }
  // So that the commit fails where the hold is over.
  virtual Result<> mark_with_commit(const CreateHold& hold, const CreateEnd& end) {
    return mark_now(hold, end);
  }
  Result<> mark_now(const CreateHold& hold, const CreateEnd& end);
  [[nodiscard]] sql::Connection& connection() { return connection_; }

 private:
  sql::Connection& connection_;
  const GuestWords words_;
};

}  // namespace recourse::store::relational
