// Create calls on a database server: the work runs on a connection of a pool for guests, in a
// transaction that the server and this process end when the lock of the key does.
#pragma once

#include <memory>

#include "sql/pool.h"
#include "store/relational/cutter.h"
#include "store/transactional_creates.h"

namespace recourse::store::relational {

class PooledCreates : public TransactionalCreates {
 public:
  PooledCreates(Backend& backend, sql::Pool::Connect connect, std::size_t size)
      : TransactionalCreates(backend), guests_(std::move(connect), size) {}

  Result<> transact(Duration within, FunctionRef<Result<>(Guest&)> work) override;
  Result<Acquired> create(const CreateAsk& ask, Duration within, CreateWork work) override;

 protected:
  virtual std::unique_ptr<Guest> host(sql::Connection& connection) = 0;

  // One that answers. `free_by`: see sql::Pool.
  Result<sql::Pool::Loan> borrow(Cutter::Instant until,
                                 Cutter::Instant free_by = Cutter::Instant::max());
  // Of a key that this call has, until when.
  Result<Acquired> create_held(sql::Pool::Loan& loan, const Creation& creation,
                               Cutter::Instant until, CreateWork work);

 private:
  // In a transaction that ends with `until` at the latest; whoever works in it commits.
  Result<> with_guest(sql::Pool::Loan& loan, Cutter::Instant until,
                      FunctionRef<Result<>(sql::Connection&)> work);
  // Runs the work and commits it with the mark.
  Result<std::string> run_work(sql::Connection& connection, const Creation& creation,
                               CreateWork work);
  // The reply to the commit was lost.
  Result<Acquired> find_out(const Creation& creation, const Error& error);

  sql::Pool guests_;
  Cutter cutter_;
};

}  // namespace recourse::store::relational
