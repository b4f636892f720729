#include "store/relational/pool.h"

namespace recourse::store::relational {

Result<Pool::Loan> Pool::borrow(sql::Deadline deadline) {
  std::unique_ptr<sql::Connection> idle;
  std::size_t seat = 0;
  {
    MutexLock lock(mutex_);
    while (lent_ == size_) {
      if (changed_.wait_until(mutex_, deadline) == std::cv_status::timeout && lent_ == size_) {
        return fail(ErrorCode::kUnavailable,
                    "every connection to the store was busy until the deadline of the call");
      }
    }
    if (free_seats_.empty()) {
      seat = lent_;
    } else {
      seat = free_seats_.back();
      free_seats_.pop_back();
    }
    ++lent_;
    if (!idle_.empty()) {
      idle = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (idle) return Loan(*this, std::move(idle), seat);
  Result<std::unique_ptr<sql::Connection>> fresh = connect_(deadline);
  if (fresh) return Loan(*this, std::move(*fresh), seat);
  take_back(nullptr, seat);
  return fail(fresh.error());
}

void Pool::take_back(std::unique_ptr<sql::Connection> connection, std::size_t seat) {
  // Closed outside of the lock.
  const std::unique_ptr<sql::Connection> lost =
      connection && !connection->usable() ? std::move(connection) : nullptr;
  MutexLock lock(mutex_);
  --lent_;
  free_seats_.push_back(seat);
  if (connection) idle_.push_back(std::move(connection));
  changed_.notify_one();
}

}  // namespace recourse::store::relational
