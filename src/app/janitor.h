// Forgets what its time has come for: finished tasks past their retention, records that have
// expired. Every node does it; who comes second finds nothing.
#pragma once

#include <thread>

#include "base/log.h"
#include "base/mutex.h"
#include "base/time.h"
#include "store/opened.h"

namespace recourse::app {

class Janitor {
 public:
  // Both must outlive it.
  Janitor(store::OpenedStore& opened, Log& log, Duration every);
  ~Janitor();
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

 private:
  void run();
  // Until little is left, or it is time to end.
  void sweep();
  [[nodiscard]] bool is_closing();

  store::OpenedStore& opened_;
  Log& log_;
  const Duration every_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace recourse::app
