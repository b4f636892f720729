// The steps of a scan before its reminders: heal, retries, time-outs to manual (GUARD-6 to
// GUARD-11). It has no thread.
//
// Safe to use from any thread, but run() by one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/ulid_source.h"
#include "engine/node.h"
#include "guard/counters.h"
#include "guard/guard.h"
#include "guard/table.h"
#include "guard/taken_tasks.h"
#include "store/opened.h"
#include "store/work.h"

namespace recourse::guard {

class Scan {
 public:
  // All of them must outlive it.
  struct Parts {
    GuardedTable& table;
    task::Kind kind;
    engine::Node& node;
    store::OpenedStore& opened;
    UlidSource& ids;
    const Clock& clock;
    Log& log;
    Tally& tally;
    std::function<void(const RowId&, const std::string& error)> escalated;
    // Nobody waits for the rest of a scan: asked between batches.
    std::function<bool()> is_stopping;
  };

  explicit Scan(Parts parts) : parts_(std::move(parts)) {}

  // Goes on where one step failed, unless the database does not answer; the first error counts.
  // Every step is done in batches, of which there are so many at most: the next scan goes on.
  Result<> run(ScanReport& report);
  // Rows in 4000 and 4001, now and then.
  void count_rows();

  // The task of one row.
  store::Submission submission_of(const RowId& id, Duration delay);
  // What the engine knows of a row's last runs: the newest task that has tried something, or else
  // the newest. None: there were none, or they are forgotten.
  Result<std::optional<task::Task>> newest_task_of(const RowId& id, Duration within);
  // A row's task has run: the next scan that finds the row due submits it again.
  void ran(const RowId& id);

 private:
  Result<> heal(ScanReport& report);
  Result<> submit_due(ScanReport& report);
  Result<> promote(ScanReport& report);
  // Rows whose tasks killed the processes that ran them.
  Result<> give_to_person(const std::vector<Deadly>& deadly, ScanReport& report);
  void needs_person(const RowId& id, const std::string& error, ScanReport& report);
  [[nodiscard]] TakenParts taken_parts();
  // Not handed to the engine a moment ago.
  std::vector<RowId> without_recent(std::vector<RowId> due);
  Result<> submit(const std::vector<RowId>& rows, ScanReport& report);

  const Parts parts_;
  BootTime counted_at_ = BootTime::min();
  Mutex mutex_;
  // By id: until when nobody needs to submit it again.
  std::map<std::string, BootTime> recent_ GUARDED_BY(mutex_);
};

}  // namespace recourse::guard
