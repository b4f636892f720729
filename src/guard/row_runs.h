// One row's run: claim, check, handle, check, write back (GUARD-8 to GUARD-10). What runs it is the
// engine's lane of the guard's kind; no lock is held while user code runs.
//
// Safe to use from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "engine/attempt_run.h"
#include "guard/counters.h"
#include "guard/keeper.h"
#include "guard/row_handlers.h"
#include "guard/table.h"
#include "policy/decision.h"

namespace recourse::guard {

class RowRuns {
 public:
  // All of them must outlive it.
  struct Parts {
    GuardedTable& table;
    const RowHandlers& handlers;
    Tally& tally;
    const Clock& clock;
    Log& log;
    // The row is with a person now, because of this error.
    std::function<void(const RowId&, const std::string& error)> escalated;
    // Its task has run: what comes of it is the row's next time.
    std::function<void(const RowId&)> ran;
    // A row that waits is well: a scan may say so now.
    std::function<void()> found_well;
  };

  explicit RowRuns(Parts parts);

  // Of the kind `guard.NAME`, whose payloads are ids.
  void run(const std::shared_ptr<engine::AttemptRun>& run);

 private:
  struct Tried {
    bool healed = false;
    // Why not.
    std::string error = {};
  };

  engine::AttemptResult result_of(const RowId& id, engine::AttemptRun& run);
  policy::Decision not_claimed(const RowId& id, const ClaimAnswer& answer);
  Tried try_it(const RowId& id, engine::AttemptRun& run, const Keeper::Kept& kept) const;
  engine::AttemptResult healed(const Claim& claim, BootTime claimed_at);
  engine::AttemptResult failed(const Claim& claim, BootTime claimed_at, const std::string& error);
  engine::AttemptResult lost(const RowId& id);
  // The node ends, or a person has stopped it: the row's own time brings it back.
  policy::Decision cut_off(const RowId& id, const std::string& error);
  // The database does not answer: so here.
  policy::Decision unreachable(const RowId& id, std::string_view doing, const Error& error);
  policy::Decision refused(const RowId& id, const Error& error);
  void say(LogLevel level, std::string_view event, const RowId& id,
           std::initializer_list<LogField> more = {});

  const Parts parts_;
  Keeper keeper_;
};

}  // namespace recourse::guard
