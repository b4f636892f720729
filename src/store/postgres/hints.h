// LISTEN and NOTIFY on a connection of its own, after the commits they tell of: within them they
// would make all commits of the database wait for each other.
#pragma once

#include <array>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "sql/postgres/hint_line.h"
#include "store/hints.h"

namespace recourse::store::postgres {

class PostgresHints final : public Hints {
 public:
  // `heard` is called on a thread of its own.
  PostgresHints(std::string url, Heard heard);
  ~PostgresHints() override;
  PostgresHints(const PostgresHints&) = delete;
  PostgresHints& operator=(const PostgresHints&) = delete;

  void send(Hint hint) override;

 private:
  void work();
  // Until the connection is lost, or the end.
  void hear_and_say(sql::postgres::HintLine& line);
  Result<> say_what_waits(sql::postgres::HintLine& line);
  void wake();
  void calm();
  [[nodiscard]] bool closing() const;
  // False: the end came first.
  bool pause(Duration length);

  const std::string url_;
  const Heard heard_;
  // An eventfd: it interrupts a poll.
  const int wake_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::array<bool, kAllHints.size()> to_send_ GUARDED_BY(mutex_){};
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace recourse::store::postgres
