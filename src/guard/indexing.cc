#include "guard/indexing.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/thread_name.h"
#include "guard/prepare.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;

// All indexes of a table of any size; a server that has died is noticed by its connection before.
constexpr Duration kPatience = 12h;
constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;

// False: a stop has come.
bool sleep(Duration pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  (void)woken.wait_for(lock, stop, pause, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

void Indexing::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Indexing::stop() {
  close();
  if (thread_.joinable()) thread_.join();
}

void Indexing::run(const std::stop_token& stop) {
  name_this_thread("guard-indexes");
  Result<> done = prepare_indexes(table_, kPatience, stop, log_);
  tried_();
  for (Duration pause = kFirstPause; !done && sleep(pause, stop);
       pause = std::min(pause * 2, kLongestPause)) {
    done = prepare_indexes(table_, kPatience, stop, log_);
  }
}

}  // namespace recourse::guard
