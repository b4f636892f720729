// Runs bulk jobs on a thread of its own: its node's, and those whose runner has died.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/bulk_job.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/ulid_source.h"
#include "store/opened.h"

namespace recourse::api {

// Safe to use from any thread.
class BulkJobs {
 public:
  // All of them must outlive it. `changed_tasks` is called when a job has changed some.
  BulkJobs(store::OpenedStore& opened, UlidSource& ids, const Clock& clock, Log& log,
           std::function<void()> changed_tasks = nullptr);
  // A job that runs goes on elsewhere, or after the next start.
  ~BulkJobs();
  BulkJobs(const BulkJobs&) = delete;
  BulkJobs& operator=(const BulkJobs&) = delete;

  // Durable when it answers. What comes later, by the store's clock, it does not catch.
  Result<BulkJob> start(BulkJob job);
  Result<std::optional<BulkJob>> find(std::string_view id);
  Result<std::vector<BulkJob>> list();
  // What is done stays done.
  Result<BulkJob> cancel(std::string_view id);

 private:
  void run();
  void look();
  Result<std::vector<store::Record>> records();
  // One page; false when there is nothing more to do.
  bool step(store::Record& record, BulkJob& job);
  bool write(store::Record& record, BulkJob& job);
  [[nodiscard]] bool is_closing();

  store::OpenedStore& opened_;
  UlidSource& ids_;
  const Clock& clock_;
  Log& log_;
  const std::function<void()> changed_tasks_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool closing_ GUARDED_BY(mutex_) = false;
  bool nudged_ GUARDED_BY(mutex_) = true;
  std::thread thread_;
};

}  // namespace recourse::api
