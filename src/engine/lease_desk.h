// Work for programs outside: they lease tasks, keep the leases alive, and report under the ticket
// they were given, to whichever node they reach. What a report means is decided by the kind's own
// rules, as if a handler of ours had answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "engine/core/event.h"
#include "engine/core/happening.h"
#include "engine/core/rules.h"
#include "store/opened.h"
#include "task/ids.h"
#include "task/record.h"

namespace recourse::engine {

struct LeaseWish {
  task::WorkerName worker;
  task::LeaseId lease;
  std::vector<task::Kind> kinds;
  int limit = 1;
  // Empty: what is usual for the kinds, and never more than each of them allows.
  std::optional<Duration> lease_for = std::nullopt;
};

struct Report {
  store::Held held;
  AttemptResult result;  // Succeeded, Failed or Decided
  // How long the attempt took, as its runner says; zero where it did not.
  Duration took{};
};

struct Renewed {
  TimePoint lease_end;
  // What a person wants of it meanwhile: its worker does well to stop.
  std::optional<task::Move> requested;
};

struct Reported {
  task::WriteVerdict verdict;
  // As the task stands afterwards; empty where refused.
  std::optional<task::State> state;
  std::optional<policy::Escalation> escalation;
  // For whoever counts: only where this very report moved the task.
  std::optional<Moved> moved = std::nullopt;
};

// Safe to use from any thread.
class LeaseDesk {
 public:
  // Both must outlive it.
  LeaseDesk(store::OpenedStore& opened, const KindTable& kinds, std::uint64_t seed)
      : opened_(opened), kinds_(kinds), rng_(seed) {}

  // Due tasks, never more than asked for; none of kinds that people have paused, and none past
  // their deadline: those end here.
  Result<std::vector<task::Task>> lease(const LeaseWish& wish, Duration within);
  // Empty where it is not theirs any more. How long goes by each task's kind.
  Result<std::vector<std::optional<Renewed>>> renew(const std::vector<store::Held>& held,
                                                    std::optional<Duration> lease_for,
                                                    TimePoint store_now, Duration within);
  // kNotFound where there is no such task. Repeating is recognised.
  Result<Reported> report(const Report& report, TimePoint store_now, Duration within);

 private:
  [[nodiscard]] Duration lease_of(const task::Kind& kind, std::optional<Duration> asked) const;
  Result<std::vector<task::Kind>> unpaused(const std::vector<task::Kind>& kinds, Duration within);
  store::Outcome outcome_of(const task::Task& task, const Report& report, TimePoint now,
                            Moved& moved);
  // Workers that die with a task are counted as nodes are, so that it does not kill them for ever.
  Result<> record_starts(std::vector<task::Task>& leased, Duration within);
  Result<> end_overdue(std::vector<task::Task>& leased, TimePoint now, Duration within);

  store::OpenedStore& opened_;
  const KindTable& kinds_;
  Mutex mutex_;
  Rng rng_ GUARDED_BY(mutex_);
};

}  // namespace recourse::engine
