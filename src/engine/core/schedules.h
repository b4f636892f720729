// Which occurrences of its schedules a node has to submit, and when.
//
// There is no leader. Every node that knows a schedule submits every occurrence; all of them make
// the same id for it, and inserting an id that is there, or has been, changes nothing. So each
// occurrence is one task, whichever nodes live.
//
// Invariants
//   1. Nothing is submitted before its time by the store's clock, of which the caller gives a lower
//      bound.
//   2. Of a schedule at most one occurrence is submitted at a moment, the latest: after a
//   standstill
//      there is no burst.
//   3. What came more than a lease's time ago came while no node lived, and is submitted only
//   within
//      catch_up.
//
// Every time here is the store's.
//
// Thread safety: none; the core owns it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/core/schedule_table.h"
#include "store/work.h"
#include "task/ids.h"

namespace recourse::engine {

class Schedules {
 public:
  // What is late by no more than `patience` is only late.
  Schedules(std::vector<Schedule> schedules, Duration patience);

  struct Due {
    std::vector<store::Submission> submissions;
    // For people.
    std::vector<std::string> missed;
  };
  // The first call is the start: occurrences before it are submitted within catch_up only.
  Due take_due(TimePoint now);
  // kNever before the first take_due.
  [[nodiscard]] TimePoint next_wakeup() const;

  // The store, or the way to it, did not take one. Submitted again after a pause, until the next
  // occurrence takes its place; where that is no use, answers what to tell people.
  std::optional<std::string> refused(const task::TaskId& id, const Error& error, TimePoint now);

 private:
  struct Entry {
    Schedule schedule;
    // What came until then has been decided on.
    TimePoint seen_until;
    // The first occurrence after it.
    TimePoint next;
    // The latest that was submitted, and when to do so again.
    std::optional<TimePoint> current;
    TimePoint again_at = kNever;
  };

  void look_from(std::size_t index, TimePoint moment);
  void wait(std::size_t index);
  void visit(std::size_t index, TimePoint now, Due& due);
  void submit(std::size_t index, TimePoint now, Due& due);

  const Duration patience_;
  std::vector<Entry> entries_;
  bool started_ = false;
  TimePoint last_now_;
  // When to look at which.
  std::set<std::pair<TimePoint, std::size_t>> waiting_;
  // The current occurrences' tasks.
  std::map<task::TaskId, std::size_t> submitted_;
};

}  // namespace recourse::engine
