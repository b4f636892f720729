#include "sql/pool.h"

#include <algorithm>

namespace recourse::sql {

Result<Pool::Loan> Pool::borrow(Deadline deadline, Deadline free_by) {
  Idle idle;
  std::size_t seat = 0;
  {
    MutexLock lock(mutex_);
    const Deadline until = std::min(deadline, free_by);
    while (lent_ == size_) {
      if (changed_.wait_until(mutex_, until) == std::cv_status::timeout && lent_ == size_) {
        return fail(ErrorCode::kUnavailable,
                    "every connection to the database was busy until the deadline of the call");
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
  if (idle.connection) {
    const auto rested = std::chrono::steady_clock::now() - idle.since;
    return Loan(*this, std::move(idle.connection), seat,
                std::chrono::duration_cast<Duration>(rested));
  }
  Result<std::unique_ptr<Connection>> fresh = connect_(deadline);
  if (fresh) return Loan(*this, std::move(*fresh), seat, Duration::zero());
  take_back(nullptr, seat);
  return fail(fresh.error());
}

void Pool::take_back(std::unique_ptr<Connection> connection, std::size_t seat) {
  // Closed outside of the lock.
  const std::unique_ptr<Connection> lost =
      connection && !connection->usable() ? std::move(connection) : nullptr;
  MutexLock lock(mutex_);
  --lent_;
  free_seats_.push_back(seat);
  if (connection) idle_.push_back({std::move(connection), std::chrono::steady_clock::now()});
  changed_.notify_one();
}

}  // namespace recourse::sql
