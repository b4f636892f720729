// Create calls, and a caller's own statements, on PostgreSQL.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sql/postgres/connection.h"
#include "store/guest.h"
#include "store/relational/pooled_backend.h"
#include "store/relational/pooled_creates.h"

namespace recourse::store::postgres {

class PostgresCreates final : public relational::PooledCreates {
 public:
  PostgresCreates(relational::PooledBackend& backend, const std::string& url, std::size_t guests);

  // Takes a new key on a guest's own connection: one process of the server is woken for a create,
  // not two.
  Result<Acquired> create(const CreateAsk& ask, Duration within, CreateWork work) override;

 protected:
  // A new key in one round trip.
  Result<Acquired> take(const CreateAsk& ask, Duration within) override;
  std::unique_ptr<Guest> host(sql::Connection& connection) override;

 private:
  // Empty: the key is there, or nobody knows.
  static std::optional<Creation> take_on(sql::Pool::Loan& guest, const CreateAsk& ask,
                                         sql::Deadline deadline);

  relational::PooledBackend& backend_;
};

// Inside of the open transaction of `lent`, which stays its owner's; see lent.h.
Result<std::unique_ptr<Guest>> guest_on(pg_conn* lent);

}  // namespace recourse::store::postgres
