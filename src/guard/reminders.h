// Tells people of rows that wait for them (GUARD-12). The rows are the outbox: one is taken for a
// while, told, and what became of it is written back. Whoever dies in between had only held it.
//
// Safe to use from any thread, but tell_due() and write_ended() are the scanner's.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "guard/counters.h"
#include "guard/desk.h"
#include "guard/reminder.h"
#include "guard/table.h"

namespace recourse::guard {

class Reminders {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // All of them must outlive it.
  Reminders(GuardedTable& table, task::Kind kind, Tell tell, Tally& tally, Log& log,
            std::shared_ptr<Desk> desk);

  // The error of a row that was just given to a person.
  void remember(const RowId& id, const std::string& error);

  // Has all told that are due, as far as there is room. Answers how many.
  Result<std::int64_t> tell_due(Duration within);
  // What people were told, or could not be, and what is told later. Goes on behind a row that
  // cannot be written; what is left comes next time. The first error counts.
  Result<> write_ended(Duration within);
  // What is out for so long that its hold would end, as through quiet hours, or has ended and could
  // not be written: else another node would tell it too.
  Result<> hold_longer(SteadyTime now, Duration within);

 private:
  // False: it is being told already, and is held for longer now.
  bool is_new(const std::string& id, const ReminderClaim& claim);
  void tell(const ReminderClaim& claim);
  std::string error_of(const RowId& id);
  // Whether the row was ours.
  Result<bool> write(Desk::Out& out, Duration within);
  void forget(const std::string& id);

  GuardedTable& table_;
  const task::Kind kind_;
  const Tell tell_;
  Tally& tally_;
  Log& log_;
  const std::shared_ptr<Desk> desk_;
  Mutex mutex_;
  std::map<std::string, std::string> errors_ GUARDED_BY(mutex_);
};

}  // namespace recourse::guard
