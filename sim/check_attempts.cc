// When a handler may be called, and how that is counted.
#include <fmt/format.h>

#include <set>
#include <tuple>

#include "sim/checker.h"
#include "sim/plan.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;
using task::StartMark;
using task::State;

// What a node cannot know better: how long the store's answers took, and how clocks drift.
constexpr Duration kEarlyMax = 30ms;
constexpr Duration kPastDeadlineMax = 2s;
constexpr int kDeaths = 3;

// I3, I6: who calls a handler owns the task at that moment, under just this ticket, and is not
// declared dead. So nobody who has lost a task begins to work on it.
class StarterOwns final : public Checker {
 public:
  using Checker::Checker;

  void handler_started(const HandlerRun& run) override {
    const task::Task* now = row(run.task);
    if (now != nullptr && now->state == State::kRunning && now->ticket == run.ticket &&
        now->owner == run.owner) {
      const auto* node = std::get_if<task::Incarnation>(&run.owner);
      if (node == nullptr || !is_dead(*node)) return;
      broken("I6 who starts owns", "its owner had been declared dead when it started", run.task,
             run.started_at);
      return;
    }
    broken("I6 who starts owns",
           fmt::format("started under fence {}; the row is {} at fence {}", run.ticket.fence.value,
                       now == nullptr ? "gone" : task::to_string(now->state),
                       now == nullptr ? 0 : now->ticket.fence.value),
           run.task, run.started_at);
  }
};

// I6: while an older handler of the task still runs, a newer one starts only if the older owner was
// declared dead, its lease had ended, or its attempt had been given up for time.
class OverlapExplained final : public Checker {
 public:
  using Checker::Checker;

  void handler_started(const HandlerRun& run) override {
    for (const HandlerRun& older : ledger_.handlers.at(run.task)) {
      if (older.ended_at || older.ticket == run.ticket || older.timed_out) continue;
      const auto* node = std::get_if<task::Incarnation>(&older.owner);
      if (node != nullptr && is_dead(*node)) continue;
      if (node == nullptr && older.lease_end && *older.lease_end <= run.started_at) continue;
      broken("I6 overlap is explained",
             fmt::format("fence {} starts while fence {} runs", run.ticket.fence.value,
                         older.ticket.fence.value),
             run.task, run.started_at);
    }
    std::size_t same = 0;
    for (const HandlerRun& other : ledger_.handlers.at(run.task)) {
      same += other.ticket == run.ticket ? 1 : 0;
    }
    if (same > 1) {
      broken("I7 attempts", "two handlers were called for one fence", run.task, run.started_at);
    }
  }
};

// I7: an outcome counts one attempt where a handler was called under its fence, and none where not;
// a failure uses one retry, and no task has more than its maximum.
class AttemptsCounted final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const task::Task* after = change.now();
    if (!change.before || after == nullptr || after->episode != change.before->episode) return;
    // What is lent is counted when it is reported on.
    const bool is_lent =
        change.verb == Verb::kApply && after->owner && after->owner != change.before->owner;
    const bool called = change.verb == Verb::kApply && !is_lent &&
                        ledger_.handler_of(change.id, change.before->ticket.fence) != nullptr;
    const int attempts = after->attempts - change.before->attempts;
    if (attempts != (called ? 1 : 0)) {
      broken("I7 attempts",
             fmt::format("{} counted {} attempts; handlers called: {}", to_string(change.verb),
                         attempts, called ? 1 : 0),
             change.id, change.at);
    }
    const int retries = after->retries - change.before->retries;
    const bool goes_on = after->state == State::kPending || after->state == State::kRunning;
    const bool snoozed =
        change.shown != nullptr && change.shown->error && change.shown->error->code == "SNOOZE";
    if (retries < 0 || retries > 1 || (retries == 1 && !called) ||
        (called && goes_on && !snoozed && retries != 1) ||
        after->retries > after->spec.max_retries) {
      broken("I7 attempts",
             fmt::format("{} retries became {}, of at most {}", change.before->retries,
                         after->retries, after->spec.max_retries),
             change.id, change.at);
    }
  }
};

// I7: from the first lost owner on, a start is written down before the handler is called; an owner
// lost after that is a death, and three deaths end the task.
class DeathsCounted final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const task::Task* after = change.now();
    if (!change.before || after == nullptr) return;
    if (after->episode != change.before->episode) lost_.erase(change.id);
    const bool took = change.before->state == State::kRunning &&
                      (change.verb == Verb::kAdopt || change.verb == Verb::kClaim);
    if (!took) return;
    lost_.insert(change.id);
    const int deaths = change.before->deaths + (change.before->start == StartMark::kRecorded);
    if (after->deaths != deaths) {
      broken("I7 deaths",
             fmt::format("{} deaths are counted, and there were {}", after->deaths, deaths),
             change.id, change.at);
    }
    if (deaths >= kDeaths && (after->state == State::kPending || after->state == State::kRunning)) {
      broken("I7 deaths", "three owners died of it, and it goes on", change.id, change.at);
    }
  }

  void handler_started(const HandlerRun& run) override {
    if (!lost_.contains(run.task)) return;
    const task::Task* now = row(run.task);
    if (now == nullptr || now->ticket != run.ticket || now->start == StartMark::kRecorded) return;
    broken("I7 deaths", "an owner was lost before, and this start is not written down", run.task,
           run.started_at);
  }

 private:
  std::set<task::TaskId> lost_;
};

// I9: never before its time or after its deadline; and where there is room and no trouble, soon.
class InTime final : public Checker {
 public:
  using Checker::Checker;

  void handler_started(const HandlerRun& run) override {
    const task::Task* now = row(run.task);
    if (now == nullptr || now->ticket != run.ticket) return;
    if (now->due_at > run.started_at + kEarlyMax) {
      broken("I9 never early",
             fmt::format("{} us before its time", (now->due_at - run.started_at).count()), run.task,
             run.started_at);
    }
    if (now->spec.deadline && run.started_at > *now->spec.deadline + kPastDeadlineMax) {
      broken("I9 not past its deadline",
             fmt::format("{} us after it", (run.started_at - *now->spec.deadline).count()),
             run.task, run.started_at);
    }
    if (now->spec.payload == "probe" && run.started_at > now->due_at + kScanPeriod + 1s) {
      broken("I9 soon",
             fmt::format("{} us late in a calm cluster", (run.started_at - now->due_at).count()),
             run.task, run.started_at);
    }
  }
};

// I17: what a process once gave to the store as the outcome of a fence, it gives again, the same,
// until it has an answer: a lost reply is never taken for a failure.
class NeverGuessed final : public Checker {
 public:
  using Checker::Checker;

  void outcome_sent(int node, std::uint64_t process, const task::Transition& outcome,
                    TimePoint at) override {
    const auto [known, is_new] = sent_.try_emplace(
        {node, process, outcome.task, outcome.ticket.fence, outcome.ticket.lease}, outcome.move);
    if (is_new || known->second == outcome.move) return;
    broken("I17 nothing is guessed",
           fmt::format("{} was sent, and then {} for the same fence",
                       task::to_string(known->second), task::to_string(outcome.move)),
           outcome.task, at);
  }

 private:
  std::map<std::tuple<int, std::uint64_t, task::TaskId, task::Fence, task::LeaseId>, task::Move>
      sent_;
};

}  // namespace

void add_attempt_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<StarterOwns>(ledger, data));
  checkers.push_back(std::make_unique<OverlapExplained>(ledger, data));
  checkers.push_back(std::make_unique<AttemptsCounted>(ledger, data));
  checkers.push_back(std::make_unique<DeathsCounted>(ledger, data));
  checkers.push_back(std::make_unique<InTime>(ledger, data));
  checkers.push_back(std::make_unique<NeverGuessed>(ledger, data));
}

}  // namespace recourse::sim
