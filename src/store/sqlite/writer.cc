#include "store/sqlite/writer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "store/countdown.h"
#include "store/sqlite/transaction.h"

namespace recourse::store::sqlite {
namespace {

using Care = relational::RelationalTransaction::Care;

constexpr std::size_t kJobsPerCommit = 64;
constexpr Duration kFlushPause = std::chrono::milliseconds(20);

}  // namespace

Writer::~Writer() {
  std::thread steward;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    steward = std::move(steward_);
  }
  changed_.notify_all();
  if (steward.joinable()) steward.join();
}

Result<> Writer::run(Line, Repeat repeat, Duration within,
                     FunctionRef<Result<>(Transaction&)> work) {
  const Countdown countdown(within);
  const auto in_sql = [&](sql::Connection&, Transaction& transaction) { return work(transaction); };
  Job job{.work = in_sql, .care = Care::kHopeful, .deadline = deadline_of(within), .result = {}};
  Result<> ran = run_job(job);
  if (ran || ran.error().code != ErrorCode::kInDoubt || repeat == Repeat::kInDoubt) return ran;
  // The flush failed: the same conditional writes find out whether it happened. Until they have,
  // no other answer is honest.
  while (!ran && countdown.left() > Duration::zero()) {
    std::this_thread::sleep_for(std::min(kFlushPause, countdown.left()));
    job = {.work = in_sql, .care = Care::kHopeful, .deadline = job.deadline, .result = {}};
    ran = run_job(job);
  }
  return ran ? ran : fail(ErrorCode::kInDoubt, ran.error().message);
}

std::deque<Writer::Job*> Writer::take_batch(std::deque<Job*>& from) {
  std::deque<Job*> batch;
  while (!from.empty() && batch.size() < kJobsPerCommit) {
    from.front()->taken = true;
    batch.push_back(from.front());
    from.pop_front();
  }
  return batch;
}

Result<> Writer::run_job(Job& job) {
  if (Result<> may = check_thread(); !may) return may;
  {
    MutexLock lock(mutex_);
    waiting_.push_back(&job);
  }
  // More may wait than fit into one commit: whoever leads does so until its own job is done.
  while (true) {
    std::deque<Job*> batch;
    {
      MutexLock lock(mutex_);
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
      batch = take_batch(waiting_);
    }
    lead(batch);
  }
}

void Writer::end_leading() {
  leading_ = false;
  changed_.notify_all();
}

void Writer::lead(const std::deque<Job*>& jobs) {
  for (std::deque<Job*> open = jobs; !open.empty();) {
    if (open.size() == 1) {
      commit_alone(*open.front());
      break;
    }
    open = commit_together(open);
  }
  for (Job* job : jobs) {
    if (job->slot != nullptr) job->slot->close();
  }
  MutexLock lock(mutex_);
  for (Job* job : jobs) job->done = true;
  end_leading();
}

void Writer::commit_alone(Job& job) {
  job.result = try_alone(job, job.care);
  if (job.result || job.care == Care::kCareful) return;
  if (job.result.error().code == ErrorCode::kConflict) job.result = try_alone(job, Care::kCareful);
}

Result<> Writer::try_alone(const Job& job, Care care) {
  connection_->set_deadline(sql::Deadline::max());
  if (Result<> begun = connection_->begin(); !begun) return begun;
  connection_->set_deadline(job.deadline);
  SqliteTransaction transaction(*connection_, clock_, care);
  Result<> ran = call(job, transaction);
  connection_->set_deadline(sql::Deadline::max());
  if (!ran) {
    connection_->rollback();
    return ran;
  }
  return connection_->commit();
}

std::deque<Writer::Job*> Writer::commit_together(const std::deque<Job*>& jobs) {
  connection_->set_deadline(sql::Deadline::max());
  if (const Result<> begun = connection_->begin(); !begun) {
    for (Job* job : jobs) job->result = begun;
    return {};
  }
  for (auto job = jobs.begin(); job != jobs.end(); ++job) {
    connection_->set_deadline((*job)->deadline);
    if (const Result<> kept = run_under_savepoint(**job); !kept) {
      connection_->rollback();
      return after_loss(jobs, job, kept.error());
    }
  }
  connection_->set_deadline(sql::Deadline::max());
  const bool any =
      std::ranges::any_of(jobs, [](const Job* job) { return job->result.has_value(); });
  if (!any) {
    connection_->rollback();
    return {};
  }
  const Result<> committed = connection_->commit();
  for (Job* job : jobs) {
    if (!committed && job->result) job->result = committed;
  }
  return {};
}

// The one that lost it has its answer; what ran before it is gone too, and what comes after it has
// not run.
std::deque<Writer::Job*> Writer::after_loss(const std::deque<Job*>& jobs,
                                            const std::deque<Job*>::const_iterator& loser,
                                            const Error& error) {
  std::deque<Job*> again(loser + 1, jobs.end());
  for (auto job = jobs.begin(); job != loser; ++job) {
    if (!(*job)->result) continue;
    if ((*job)->care == Care::kHopeful) {
      again.push_back(*job);
    } else {
      (*job)->result = fail(error);
    }
  }
  return again;
}

Result<> Writer::run_under_savepoint(Job& job) {
  if (const auto set = connection_->execute("SAVEPOINT job", {}); !set) {
    job.result = fail(set.error());
    return job.result;
  }
  job.result = run_one(job);
  connection_->set_deadline(sql::Deadline::max());
  if (!job.result) {
    if (!connection_->execute("ROLLBACK TO job", {})) return job.result;
  }
  if (const auto released = connection_->execute("RELEASE job", {}); !released) {
    job.result = fail(released.error());
    return job.result;
  }
  return {};
}

// What it throws must not take the others with it.
Result<> Writer::call(const Job& job, Transaction& transaction) {
  try {
    return job.work(*connection_, transaction);
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kInvalid,
                std::string("the work in the transaction threw: ") + thrown.what());
  } catch (...) {
    return fail(ErrorCode::kInvalid, "the work in the transaction threw something");
  }
}

Result<> Writer::run_one(Job& job) {
  SqliteTransaction first(*connection_, clock_, job.care);
  Result<> ran = call(job, first);
  if (ran || ran.error().code != ErrorCode::kConflict || job.care == Care::kCareful) return ran;
  if (const auto back = connection_->execute("ROLLBACK TO job", {}); !back) {
    return fail(back.error());
  }
  SqliteTransaction careful(*connection_, clock_, Care::kCareful);
  return call(job, careful);
}

}  // namespace recourse::store::sqlite
