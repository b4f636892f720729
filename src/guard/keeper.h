// Keeps claimed rows while user code runs: pushes their tokens before they end, for as long as it
// takes, so that nobody else runs a row at the same time, however long it hangs.
//
// One thread, and no user code on it: whoever blocks it would lose all other rows. What has to be
// pushed at about the same time is pushed together, so that a slow database is asked rarely.
//
// Safe to use from any thread.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "guard/table.h"

namespace recourse::guard {

class Keeper {
 public:
  // The table, the clock and the log must outlive it. `hold` is what rows are claimed for, and
  // pushed by.
  Keeper(GuardedTable& table, const Clock& clock, Log& log, Duration hold);
  // Nothing is kept any more by then.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  [[nodiscard]] Duration hold() const { return hold_; }

  // One row that is kept until this goes.
  class Kept {
   public:
    Kept(Keeper& keeper, Claim claim, BootTime claimed_at);
    ~Kept() { (void)release(); }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    // Somebody else may have the row by now, or nobody is to run it any more.
    [[nodiscard]] bool is_lost() const;
    // Not pushed any more; a push that is out is waited for. The claim with its last token, or
    // nothing where it was lost.
    std::optional<Claim> release();

   private:
    friend class Keeper;
    struct State {
      Claim claim;
      BootTime ends_at;
      BootTime push_at;
      bool pushing = false;
      bool lost = false;
    };

    Keeper& keeper_;
    std::optional<std::list<State>::iterator> place_;
  };

  // Claimed by a call that began then.
  [[nodiscard]] std::unique_ptr<Kept> keep(Claim claim, BootTime claimed_at) {
    return std::make_unique<Kept>(*this, std::move(claim), claimed_at);
  }

 private:
  using Place = std::list<Kept::State>::iterator;

  void run();
  // When the next has to be pushed; the end of time where none has to.
  BootTime next_push() REQUIRES(mutex_);
  // Those whose turn comes by then, the soonest first, as many as one push takes.
  std::vector<Place> take(BootTime by) REQUIRES(mutex_);
  void push(const std::vector<Place>& places);
  void pushed(Kept::State& kept, const Claim& claim, Pushed pushed, BootTime sent_at)
      REQUIRES(mutex_);
  void say_not_kept(const RowId& id, const std::string& why);

  GuardedTable& table_;
  const Clock& clock_;
  Log& log_;
  const Duration hold_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::list<Kept::State> kept_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace recourse::guard
