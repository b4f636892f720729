#include "guard/indexing.h"

#include <algorithm>
#include <chrono>

#include "base/stoppable_sleep.h"
#include "base/thread_name.h"
#include "guard/prepare.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;

// All indexes of a table of any size; a server that has died is noticed by its connection before.
constexpr Duration kPatience = 12h;
constexpr Duration kFirstBuildPause = 1s;
constexpr Duration kLongestBuildPause = 1min;

}  // namespace

void Indexing::start() {
  const MutexLock lock(joining_);
  thread_ = std::thread([this] { run(stop_.get_token()); });
}

void Indexing::stop() {
  close();
  const MutexLock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void Indexing::run(const std::stop_token& stop) {
  name_this_thread("guard-indexes");
  Duration pause = kFirstBuildPause;
  while (true) {
    const auto begun = std::chrono::steady_clock::now();
    const Result<> done = prepare_indexes(table_, kPatience, stop, log_);
    const auto took =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
    if (pause == kFirstBuildPause) tried_();
    // A build that was broken off begins at its beginning: not for more than half of the time.
    if (done || !sleep_unless_stopped(std::max(pause, took), stop)) return;
    pause = std::min(pause * 2, kLongestBuildPause);
  }
}

}  // namespace recourse::guard
