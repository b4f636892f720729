// The one connection that writes. Calls that arrive while a commit is being flushed wait together
// and share the next one: whoever comes first runs them all, each under a savepoint of its own, and
// one flush answers everybody.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <deque>
#include <memory>

#include "base/clock.h"
#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sql/connection.h"
#include "store/backend.h"
#include "store/relational/transaction.h"

namespace recourse::store::sqlite {

class Writer final : public Backend {
 public:
  Writer(std::unique_ptr<sql::Connection> connection, const Clock& clock)
      : connection_(std::move(connection)), clock_(clock) {}

  Result<> run(Line line, Repeat repeat, Duration within,
               FunctionRef<Result<>(Transaction&)> work) override;

  // The same for work in plain SQL, which is never run a second time.
  Result<> run_sql(Duration within, FunctionRef<Result<>(sql::Connection&, Transaction&)> work);

 private:
  using Care = relational::RelationalTransaction::Care;

  struct Job {
    FunctionRef<Result<>(sql::Connection&, Transaction&)> work;
    // Hopeful work may be run again.
    Care care;
    sql::Deadline deadline;
    Result<> result;
    bool taken = false;
    bool done = false;
  };

  Result<> run_job(Job& job);
  // Runs what waits, this caller's job among it.
  void lead(const std::deque<Job*>& jobs);
  // Alone it needs no savepoint, under which SQLite would copy every page once more before changing
  // it: what fails is rolled back as a whole.
  void commit_alone(Job& job);
  Result<> try_alone(const Job& job, Care care);
  // Answers those that have to be run again, because one of them lost the transaction of all.
  std::deque<Job*> commit_together(const std::deque<Job*>& jobs);
  static std::deque<Job*> after_loss(const std::deque<Job*>& jobs,
                                     const std::deque<Job*>::const_iterator& loser,
                                     const Error& error);
  Result<> run_one(Job& job);
  Result<> call(const Job& job, Transaction& transaction);
  // Fails where SQLite has rolled back the whole transaction, as it does when a statement that
  // writes is cut off by its deadline or finds the disk full.
  Result<> run_under_savepoint(Job& job);

  const std::unique_ptr<sql::Connection> connection_;
  const Clock& clock_;

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Job*> waiting_ GUARDED_BY(mutex_);
  bool leading_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::store::sqlite
