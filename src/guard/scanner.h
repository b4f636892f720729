// Looks after one guard's table on a thread of its own: the four steps of GUARD-6 every period, a
// reminder pass as soon as something escalates, and what people were told written back.
//
// A scan that fails is logged, counted and tried again; it ends nothing.
//
// Safe to use from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "guard/desk.h"
#include "guard/reminders.h"
#include "guard/scan.h"

namespace recourse::guard {

class Scanner {
 public:
  // All of the parts must outlive it; parts.escalated and parts.is_stopping are its own.
  Scanner(Scan::Parts parts, Tell tell);
  ~Scanner() { stop(Duration::zero()); }
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Once. The first scan begins after so long, or when somebody asks for one.
  void start(Duration first_scan_in = Duration::zero());
  // No scan and no telling begins any more; what was told is still written down.
  void close();
  // Writes what has ended, for at most so long. Repeating is harmless.
  void stop(Duration within);

  Result<ScanReport> scan_now(Duration within);
  // The same, and nobody waits for it.
  void scan_soon();
  // Why the last scan failed; empty: it did not.
  [[nodiscard]] std::string trouble() const;
  // The row is with a person now.
  void escalated(const RowId& id, const std::string& error);
  // No more is to be begun.
  [[nodiscard]] bool is_stopping();
  // Its task has run.
  void ran(const RowId& id) { steps_.ran(id); }
  Result<std::optional<task::Task>> newest_task_of(const RowId& id, Duration within) {
    return steps_.newest_task_of(id, within);
  }
  store::Submission submission_of(const RowId& id, Duration delay) {
    return steps_.submission_of(id, delay);
  }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  enum class Work : std::uint8_t { kWriteEnded, kHold, kScan, kRemind, kEnd };

  void run();
  // Waits for it.
  Work next_work();
  void scan();
  Result<ScanReport> all_steps();
  // Says how it went; answers how long until the next.
  Duration scanned(const Result<ScanReport>& done);
  void remind();
  // One a scan, so that a table that refuses everything fills no log.
  void tell_refusal();
  void write_ended(Duration within);
  void hold_longer();
  // One that fails is repeated a little later.
  void wrote(const Result<>& written);

  Scan steps_;
  const std::shared_ptr<Desk> desk_;
  GuardedTable& table_;
  Tally& tally_;
  Log& log_;
  Reminders reminders_;
  // Only of the thread.
  SteadyTime next_scan_ = SteadyTime::min();
  // A write that failed is not repeated before.
  SteadyTime next_write_ = SteadyTime::min();
  bool was_down_ = false;
  Mutex joining_;
  std::thread thread_ GUARDED_BY(joining_);
};

}  // namespace recourse::guard
