#include "bench/store_line.h"

#include <atomic>

#include "base/clock.h"

namespace recourse::bench {

TimePoint wall_time() { return SystemClock().now(); }

std::uint64_t new_seed() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::size_t LoopLine::succeed() {
  if (kept_.empty()) return 0;
  const LoopBatch batch = std::move(kept_.front());
  kept_.pop_front();
  archive(batch);
  return batch.tasks.size();
}

std::size_t LoopLine::keep(LoopBatch batch) {
  const std::size_t count = batch.tasks.size();
  if (count > 0) kept_.push_back(std::move(batch));
  return count;
}

void LoopLine::keep_born(std::span<const store::Submission> batch) {
  if (!batch.front().claim) return;
  LoopBatch born{.lease = batch.front().claim->lease.value, .tasks = {}};
  for (const store::Submission& item : batch) {
    born.tasks.push_back({.id = item.id, .fence = 1, .attempts = 0, .payload = {}, .headers = {}});
  }
  keep(std::move(born));
}

}  // namespace recourse::bench
