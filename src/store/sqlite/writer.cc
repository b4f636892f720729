#include "store/sqlite/writer.h"

#include <algorithm>
#include <utility>

#include "store/countdown.h"
#include "store/relational/transaction.h"

namespace recourse::store::sqlite {
namespace {

using relational::RelationalTransaction;
using Care = RelationalTransaction::Care;

constexpr std::size_t kJobsPerCommit = 64;

constexpr relational::Dialect kDialect{
    .now = "",
    .task_by_id = "recourse_task",
    .task_by_due = "recourse_task",
    .for_update = "",
    .skip_locked = "",
    .after_delete = "",
    .add_count =
        "INSERT INTO recourse_counter (stripe, kind, state, n) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (stripe, kind, state) DO UPDATE SET n = n + excluded.n",
};

// The process's clock is the store's clock: no other process has the file.
class SqliteTransaction final : public RelationalTransaction {
 public:
  SqliteTransaction(sql::Connection& connection, const Clock& clock, Care care)
      : RelationalTransaction({.connection = connection, .dialect = kDialect, .stripe = {}}, care),
        clock_(clock) {}

  Result<TimePoint> now() override { return clock_.now(); }

 private:
  const Clock& clock_;
};

}  // namespace

Result<> Writer::run(Line, Repeat repeat, Duration within,
                     FunctionRef<Result<>(Transaction&)> work) {
  const Countdown countdown(within);
  const auto in_sql = [&](sql::Connection&, Transaction& transaction) { return work(transaction); };
  Result<> ran = run_sql(within, in_sql);
  // The flush failed: the same conditional writes find out whether it happened.
  while (!ran && ran.error().code == ErrorCode::kInDoubt && repeat == Repeat::kHarmless &&
         countdown.left() > Duration::zero()) {
    ran = run_sql(countdown.left(), in_sql);
  }
  return ran;
}

Result<> Writer::run_sql(Duration within,
                         FunctionRef<Result<>(sql::Connection&, Transaction&)> work) {
  Job job{.work = work,
          .deadline = std::chrono::steady_clock::now() + std::min(within, kLongestWait),
          .result = {}};
  std::deque<Job*> batch;
  {
    MutexLock lock(mutex_);
    waiting_.push_back(&job);
    while (leading_ && !job.done) {
      // Once somebody runs it, only that run can say how it ended; it has the same deadline.
      if (job.taken) {
        changed_.wait(mutex_);
      } else if (changed_.wait_until(mutex_, job.deadline) == std::cv_status::timeout &&
                 !job.taken) {
        std::erase(waiting_, &job);
        return fail(ErrorCode::kUnavailable,
                    "the store was busy until the deadline of the call; try again later");
      }
    }
    if (job.done) return job.result;
    leading_ = true;
    while (!waiting_.empty() && batch.size() < kJobsPerCommit) {
      waiting_.front()->taken = true;
      batch.push_back(waiting_.front());
      waiting_.pop_front();
    }
  }
  lead(batch);
  return job.result;
}

void Writer::lead(const std::deque<Job*>& jobs) {
  commit_together(jobs);
  MutexLock lock(mutex_);
  for (Job* job : jobs) job->done = true;
  leading_ = false;
  changed_.notify_all();
}

void Writer::commit_together(const std::deque<Job*>& jobs) {
  connection_->set_deadline(sql::Deadline::max());
  if (const Result<> begun = connection_->begin(); !begun) {
    for (Job* job : jobs) job->result = begun;
    return;
  }
  for (Job* job : jobs) {
    connection_->set_deadline(job->deadline);
    job->result = run_under_savepoint(*job);
  }
  connection_->set_deadline(sql::Deadline::max());
  const bool any =
      std::ranges::any_of(jobs, [](const Job* job) { return job->result.has_value(); });
  if (!any) {
    connection_->rollback();
    return;
  }
  const Result<> committed = connection_->commit();
  if (committed) return;
  for (Job* job : jobs) {
    if (job->result) job->result = committed;
  }
}

Result<> Writer::run_under_savepoint(Job& job) {
  if (const auto set = connection_->execute("SAVEPOINT job", {}); !set) return fail(set.error());
  Result<> ran = run_one(job);
  connection_->set_deadline(sql::Deadline::max());
  if (!ran) {
    if (const auto back = connection_->execute("ROLLBACK TO job", {}); !back) {
      return fail(back.error());
    }
  }
  if (const auto released = connection_->execute("RELEASE job", {}); !released) {
    return fail(released.error());
  }
  return ran;
}

Result<> Writer::run_one(Job& job) {
  SqliteTransaction hopeful(*connection_, clock_, Care::kHopeful);
  Result<> ran = job.work(*connection_, hopeful);
  if (ran || ran.error().code != ErrorCode::kConflict) return ran;
  if (const auto back = connection_->execute("ROLLBACK TO job", {}); !back) {
    return fail(back.error());
  }
  SqliteTransaction careful(*connection_, clock_, Care::kCareful);
  return job.work(*connection_, careful);
}

}  // namespace recourse::store::sqlite
