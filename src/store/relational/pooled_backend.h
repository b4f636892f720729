// Transactions on a database server: pools of connections, whole transactions run again where that
// is safe, and nothing guessed where a reply was lost.
#pragma once

#include <atomic>
#include <memory>

#include "base/rng.h"
#include "base/ulid.h"
#include "sql/pool.h"
#include "store/backend.h"
#include "store/relational/reader.h"
#include "store/relational/transaction.h"

namespace recourse::store::relational {

struct PoolSizes {
  // Two to four work best: 1.3 to 1.6 times one.
  std::size_t work = 4;
  std::size_t reading = 2;
  // Works of create calls at once.
  std::size_t guests = 16;
};

class PooledBackend : public Backend, public ReadingLine {
 public:
  PooledBackend(const sql::Pool::Connect& connect, const Dialect& dialect, const PoolSizes& sizes);

  Result<> run(Line line, Repeat repeat, Duration within,
               FunctionRef<Result<>(Transaction&)> work) override;
  Result<> read(Duration within, FunctionRef<Result<>(sql::Connection&)> work) override;
  // Statements outside of a transaction, on a connection for work; once.
  Result<> ask(Duration within, FunctionRef<Result<>(sql::Connection&)> work);
  Result<TimePoint> now(sql::Connection& connection) override;
  [[nodiscard]] const Dialect& dialect() const override { return dialect_; }

 protected:
  // The database's own steps.
  virtual std::unique_ptr<Transaction> start(const Seat& seat,
                                             RelationalTransaction::Care care) = 0;

 private:
  enum class End : std::uint8_t { kDone, kAgain, kInDoubt };
  struct Outcome {
    Result<> result;
    End end;
  };
  sql::Pool& pool_of(Line line);
  Outcome borrow_and_run(Line line, RelationalTransaction::Care care, sql::Deadline deadline,
                         FunctionRef<Result<>(Transaction&)> work);
  Outcome run_once(const sql::Pool::Loan& loan, Line line, RelationalTransaction::Care care,
                   FunctionRef<Result<>(Transaction&)> work);

  const Dialect& dialect_;
  // Names this process's connections in the counts; the last bytes are the connection's number.
  const Ulid stripes_;
  sql::Pool work_;
  sql::Pool heart_;
  sql::Pool waiting_;
  sql::Pool reading_;
};

}  // namespace recourse::store::relational
