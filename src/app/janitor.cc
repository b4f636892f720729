#include "app/janitor.h"

#include <string>

#include "store/limits.h"

namespace recourse::app {
namespace {

constexpr Duration kPurgePatience = std::chrono::seconds(10);
// One sweep's share, so that a first sweep over years of tasks does not fill the log of the
// database at once.
constexpr std::size_t kTasksPerSweep = 50'000;
// As many messages as a busy node takes in between two sweeps.
constexpr std::size_t kMarksPerSweep = 1'000'000;

}  // namespace

Janitor::Janitor(store::OpenedStore& opened, Log& log, Duration every)
    : opened_(opened), log_(log), every_(every), thread_([this] { run(); }) {}

Janitor::~Janitor() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Janitor::is_closing() {
  MutexLock lock(mutex_);
  return closing_;
}

void Janitor::run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!closing_) changed_.wait_for(mutex_, every_);
      if (closing_) return;
    }
    sweep();
  }
}

void Janitor::sweep() {
  std::size_t purged = 0;
  while (!is_closing() && purged < kTasksPerSweep) {
    store::PurgeRequest request;
    request.by = "retention";
    const auto batch = opened_.store().purge(request, kPurgePatience);
    if (!batch) {
      log_.warning("purge_failed", {{"error", batch.error().message}});
      return;
    }
    purged += *batch;
    if (*batch < request.limit) break;
  }
  if (purged > 0) log_.info("purged", {{"tasks", std::to_string(purged)}});
  while (!is_closing()) {
    const auto swept = opened_.records().sweep(store::kPageRowsMax, kPurgePatience);
    if (!swept || *swept < store::kPageRowsMax) break;
  }
  while (!is_closing()) {
    const auto swept = opened_.creates().sweep(store::kPageRowsMax, kPurgePatience);
    if (!swept || *swept < store::kPageRowsMax) break;
  }
  for (std::size_t gone = 0; !is_closing() && gone < kMarksPerSweep;) {
    const auto swept = opened_.inbox().sweep(store::kPageRowsMax, kPurgePatience);
    if (!swept || *swept < store::kPageRowsMax) return;
    gone += *swept;
  }
}

}  // namespace recourse::app
