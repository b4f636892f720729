// The writer's guests: callers whose own code runs inside of its transaction.
#include <chrono>
#include <exception>
#include <utility>

#include "base/thread_name.h"
#include "store/countdown.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/writer.h"

namespace recourse::store::sqlite {
namespace {

constexpr Duration kSoon = std::chrono::milliseconds(20);

// Whose transaction this thread is inside of.
thread_local const Writer* guest_of = nullptr;

class InsideOf {
 public:
  explicit InsideOf(const Writer* writer) : before_(std::exchange(guest_of, writer)) {}
  ~InsideOf() { guest_of = before_; }
  InsideOf(const InsideOf&) = delete;
  InsideOf& operator=(const InsideOf&) = delete;

 private:
  const Writer* before_;
};

}  // namespace

Result<> Writer::check_thread() const {
  if (guest_of != this) return {};
  return fail(ErrorCode::kInvalid,
              "this thread has the store's one write transaction open already, and would wait for "
              "itself: use the transaction that it was given, or call when that has ended");
}

bool Writer::wait_until_taken(Job& job) {
  MutexLock lock(mutex_);
  start_steward();
  guests_.push_back(&job);
  changed_.notify_all();
  while (!job.taken) {
    if (changed_.wait_until(mutex_, job.deadline) == std::cv_status::timeout && !job.taken) {
      std::erase(guests_, &job);
      return false;
    }
  }
  return true;
}

void Writer::start_steward() {
  if (!steward_.joinable()) steward_ = std::thread([this] { run_steward(); });
}

bool Writer::may_lead_alone(Job& job) {
  MutexLock lock(mutex_);
  if (leading_ || !waiting_.empty() || !guests_.empty()) return false;
  start_steward();
  leading_ = true;
  alone_ = &job;
  if (job.deadline < looks_at_) changed_.notify_all();
  return true;
}

Result<> Writer::call_guest(const Writer* writer, GuestSlot& slot,
                            FunctionRef<Result<>(GuestSlot&)> work, std::exception_ptr& thrown) {
  const InsideOf inside(writer);
  try {
    return work(slot);
  } catch (...) {
    thrown = std::current_exception();
    return fail(ErrorCode::kInvalid, "the work in the transaction threw");
  }
}

Result<> Writer::run_alone(Job& job, FunctionRef<Result<>(GuestSlot&)> work) {
  connection_->set_deadline(sql::Deadline::max());
  std::exception_ptr thrown;
  bool is_mine = true;
  Result<> result = connection_->begin();
  if (result) {
    connection_->set_deadline(job.deadline);
    SqliteTransaction transaction(*connection_, clock_, Care::kCareful);
    job.slot->open(*connection_, transaction);
    result = call_guest(this, *job.slot, work, thrown);
    is_mine = job.slot->leave({});
    if (is_mine) connection_->set_deadline(sql::Deadline::max());
    if (is_mine && result) result = connection_->commit();
    if (is_mine && !result) connection_->rollback();
  }
  MutexLock lock(mutex_);
  if (is_mine) {
    alone_ = nullptr;
    end_leading();
  } else {
    while (!job.done) changed_.wait(mutex_);
    result = job.result;
  }
  if (thrown) std::rethrow_exception(thrown);
  return result;
}

Result<> Writer::run_guest(Duration within, FunctionRef<Result<>(GuestSlot&)> work) {
  if (Result<> may = check_thread(); !may) return may;
  GuestSlot slot;
  const sql::Deadline deadline = deadline_of(within);
  const auto rendezvous = [&](sql::Connection& connection, Transaction& transaction) {
    return slot.serve(connection, transaction, deadline);
  };
  Job job{.work = rendezvous,
          .care = Care::kCareful,
          .deadline = deadline,
          .result = {},
          .slot = &slot};
  if (may_lead_alone(job)) return run_alone(job, work);
  if (!wait_until_taken(job)) {
    return fail(ErrorCode::kUnavailable,
                "the store was busy until the deadline of the call; try again later");
  }
  std::exception_ptr thrown;
  if (slot.wait_for_turn()) (void)slot.leave(call_guest(this, slot, work, thrown));
  MutexLock lock(mutex_);
  while (!job.done) changed_.wait(mutex_);
  if (thrown) std::rethrow_exception(thrown);
  return job.result;
}

// Under the lock, so that the guest cannot be gone meanwhile; it holds its slot no longer than a
// statement whose deadline has passed takes to end.
void Writer::cut_off_alone() {
  if (!alone_->slot->take_back()) {
    // It left by itself just now and is about to say so, or has not quite begun.
    changed_.wait_until(mutex_, std::chrono::steady_clock::now() + kSoon);
    return;
  }
  Job& job = *std::exchange(alone_, nullptr);
  connection_->set_deadline(sql::Deadline::max());
  connection_->rollback();
  job.result = cut_off();
  job.done = true;
  end_leading();
}

void Writer::run_steward() {
  name_this_thread("sqlite-steward");
  mutex_.lock();
  while (!ending_) {
    if (alone_ != nullptr && alone_->deadline <= std::chrono::steady_clock::now()) {
      cut_off_alone();
    } else if (leading_ || guests_.empty()) {
      looks_at_ = alone_ != nullptr ? alone_->deadline : sql::Deadline::max();
      changed_.wait_until(mutex_, looks_at_);
    } else {
      leading_ = true;
      const std::deque<Job*> batch = take_batch(guests_);
      mutex_.unlock();
      changed_.notify_all();
      lead(batch);
      mutex_.lock();
    }
  }
  mutex_.unlock();
}

}  // namespace recourse::store::sqlite
