#include "store/sqlite/guest_slot.h"

#include <condition_variable>
#include <utility>

namespace recourse::store::sqlite {

Unexpected cut_off() {
  return fail(ErrorCode::kUnavailable,
              "the work held the store's one write transaction until its time was over, and was "
              "cut off: nothing of it is kept");
}

Result<> GuestSlot::serve(sql::Connection& connection, Transaction& transaction,
                          sql::Deadline deadline) {
  const MutexLock lock(mutex_);
  connection_ = &connection;
  transaction_ = &transaction;
  turn_ = Turn::kGuests;
  changed_.notify_all();
  while (turn_ == Turn::kGuests) {
    if (changed_.wait_until(mutex_, deadline) == std::cv_status::no_timeout) continue;
    if (turn_ == Turn::kGuests) turn_ = Turn::kOver;
  }
  connection_ = nullptr;
  transaction_ = nullptr;
  if (turn_ == Turn::kOver) return cut_off();
  return result_;
}

void GuestSlot::close() {
  const MutexLock lock(mutex_);
  if (turn_ == Turn::kWriters) turn_ = Turn::kOver;
  changed_.notify_all();
}

bool GuestSlot::wait_for_turn() {
  const MutexLock lock(mutex_);
  while (turn_ == Turn::kWriters) changed_.wait(mutex_);
  return turn_ == Turn::kGuests;
}

void GuestSlot::open(sql::Connection& connection, Transaction& transaction) {
  const MutexLock lock(mutex_);
  connection_ = &connection;
  transaction_ = &transaction;
  turn_ = Turn::kGuests;
}

bool GuestSlot::take_back() {
  const MutexLock lock(mutex_);
  if (turn_ != Turn::kGuests) return false;
  turn_ = Turn::kOver;
  connection_ = nullptr;
  transaction_ = nullptr;
  return true;
}

bool GuestSlot::leave(Result<> result) {
  const MutexLock lock(mutex_);
  if (turn_ != Turn::kGuests) return false;
  result_ = std::move(result);
  turn_ = Turn::kLeft;
  // Under the lock: the writer may go on, and the slot be gone, as soon as it is free.
  changed_.notify_all();
  return true;
}

Result<> GuestSlot::use(FunctionRef<Result<>(sql::Connection&, Transaction&)> work) {
  const MutexLock lock(mutex_);
  if (turn_ != Turn::kGuests) return cut_off();
  return work(*connection_, *transaction_);
}

}  // namespace recourse::store::sqlite
