// Gives a guard's table its indexes while the guard is at work, on a thread of its own: of a large
// table they take long, and a start that waited for them would look like one that hangs. Tried
// until it is decided; a stop ends the statement that is out.
//
// Safe to use from any thread.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "guard/table.h"

namespace recourse::guard {

class Indexing {
 public:
  // Both must outlive it. `tried` is called once, when the first try has ended, however it did.
  Indexing(GuardedTable& table, Log& log, std::function<void()> tried)
      : table_(table), log_(log), tried_(std::move(tried)) {}
  ~Indexing() { stop(); }
  Indexing(const Indexing&) = delete;
  Indexing& operator=(const Indexing&) = delete;

  // Once.
  void start();
  // Returns at once; what is out is ended.
  void close() { stop_.request_stop(); }
  // Returns when it has ended. Repeating either is harmless, and so is leaving it out.
  void stop();

 private:
  void run(const std::stop_token& stop);

  GuardedTable& table_;
  Log& log_;
  const std::function<void()> tried_;
  std::stop_source stop_;
  Mutex joining_;
  std::thread thread_ GUARDED_BY(joining_);
};

}  // namespace recourse::guard
