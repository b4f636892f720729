// A bounded number of connections, opened when they are needed and replaced when they are lost.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sql/connection.h"

namespace recourse::sql {

class Pool {
 public:
  using Connect = std::function<Result<std::unique_ptr<Connection>>(Deadline)>;

  Pool(Connect connect, std::size_t size) : connect_(std::move(connect)), size_(size) {}

  // Goes back by itself, or is closed where it was lost.
  class Loan {
   public:
    Loan(Pool& pool, std::unique_ptr<Connection> connection, std::size_t seat, Duration rested)
        : pool_(&pool), connection_(std::move(connection)), seat_(seat), rested_(rested) {}
    Loan(Loan&& other) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      if (!connection_) return;
      pool_->take_back(is_discarded_ ? nullptr : std::move(connection_), seat_);
    }

    [[nodiscard]] Connection& connection() const { return *connection_; }
    // How long nobody had it before.
    [[nodiscard]] Duration rested() const { return rested_; }
    // Closed instead of being lent again.
    void discard() { is_discarded_ = true; }
    // 0, 1, 2, ...: no two loans at a time have the same.
    [[nodiscard]] std::size_t seat() const { return seat_; }

   private:
    Pool* pool_;
    std::unique_ptr<Connection> connection_;
    std::size_t seat_;
    Duration rested_;
    bool is_discarded_ = false;
  };

  // Waits for a free one, or opens one, until the deadline; where others have all of them, no
  // longer than `free_by`.
  Result<Loan> borrow(Deadline deadline, Deadline free_by = Deadline::max());

 private:
  void take_back(std::unique_ptr<Connection> connection, std::size_t seat);

  const Connect connect_;
  const std::size_t size_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::size_t lent_ GUARDED_BY(mutex_) = 0;
  std::vector<std::size_t> free_seats_ GUARDED_BY(mutex_);
  struct Idle {
    std::unique_ptr<Connection> connection;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Idle> idle_ GUARDED_BY(mutex_);
};

}  // namespace recourse::sql
