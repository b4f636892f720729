// The one connection that writes. Calls that arrive while a commit is being flushed wait together
// and share the next one: whoever comes first runs them all, each under a savepoint of its own, and
// one flush answers everybody.
//
// Guests are callers whose own code runs inside of the transaction, on the caller's thread. Where
// nobody else wants the writer, a guest leads alone; else the steward, a thread of the writer's,
// leads and waits for one guest after the other. Whoever hangs there hangs alone: at its deadline
// the steward takes the connection back.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sql/connection.h"
#include "store/backend.h"
#include "store/relational/transaction.h"
#include "store/sqlite/guest_slot.h"

namespace recourse::store::sqlite {

class Writer final : public Backend {
 public:
  Writer(std::unique_ptr<sql::Connection> connection, const Clock& clock)
      : connection_(std::move(connection)), clock_(clock) {}
  ~Writer() override;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Result<> run(Line line, Repeat repeat, Duration within,
               FunctionRef<Result<>(Transaction&)> work) override;

  // The same for a guest, whose work is never run a second time and holds up everybody else: when
  // `within` is over it is cut off, and rolled back. What it throws goes on to the caller. kInvalid
  // where this very thread is a guest already: it would wait for itself.
  Result<> run_guest(Duration within, FunctionRef<Result<>(GuestSlot&)> work);

 private:
  using Care = relational::RelationalTransaction::Care;

  struct Job {
    FunctionRef<Result<>(sql::Connection&, Transaction&)> work;
    // Hopeful work may be run again.
    Care care;
    sql::Deadline deadline;
    Result<> result;
    // Of a guest.
    GuestSlot* slot = nullptr;
    bool taken = false;
    bool done = false;
  };

  // Whether this thread may wait for the writer at all.
  [[nodiscard]] Result<> check_thread() const;
  // False: somebody else leads, or waits.
  bool may_lead_alone(Job& job);
  Result<> run_alone(Job& job, FunctionRef<Result<>(GuestSlot&)> work);
  // The work on this thread; what it throws is kept.
  static Result<> call_guest(const Writer* writer, GuestSlot& slot,
                             FunctionRef<Result<>(GuestSlot&)> work, std::exception_ptr& thrown);
  // False: nobody took it before its deadline, and nobody will.
  bool wait_until_taken(Job& job);
  void start_steward() REQUIRES(mutex_);
  // Of the guest that leads alone, where its time is over.
  void cut_off_alone() REQUIRES(mutex_);
  void end_leading() REQUIRES(mutex_);
  void run_steward();
  // Guests are not run with others, who would have to wait for one that hangs.
  static std::deque<Job*> take_batch(std::deque<Job*>& from);
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
  std::deque<Job*> guests_ GUARDED_BY(mutex_);
  bool leading_ GUARDED_BY(mutex_) = false;
  // The guest that leads alone.
  Job* alone_ GUARDED_BY(mutex_) = nullptr;
  // When the steward looks next; it is woken only for what comes earlier.
  sql::Deadline looks_at_ GUARDED_BY(mutex_) = sql::Deadline::max();
  bool ending_ GUARDED_BY(mutex_) = false;
  // Started with the first guest.
  std::thread steward_ GUARDED_BY(mutex_);
};

}  // namespace recourse::store::sqlite
