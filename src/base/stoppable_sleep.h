// A pause that a stop ends.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/time.h"

namespace recourse {

// False: a stop has come.
inline bool sleep_unless_stopped(Duration pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  (void)woken.wait_for(lock, stop, pause, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace recourse
