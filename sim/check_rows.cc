// What may happen to a row: owners, fences, states.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "sim/checker.h"

namespace recourse::sim {
namespace {

using task::Move;
using task::State;

bool is_over(State state) {
  return state == State::kSucceeded || state == State::kCancelled || state == State::kResolved ||
         state == State::kIgnored;
}

// Where a person's request leads; running where it names no state, or nobody asked.
State wished(const std::optional<Move>& request) {
  if (!request) return State::kRunning;
  switch (*request) {
    case Move::kCancel: return State::kCancelled;
    case Move::kResolve: return State::kResolved;
    case Move::kIgnore: return State::kIgnored;
    case Move::kPause: return State::kPaused;
    default: return State::kRunning;
  }
}

// I2: of one tenant, kind and unique key at most one task is unfinished, and whoever submits
// another one is told the id of that one.
class OneTaskPerKey final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const task::Task* row = change.now() != nullptr ? change.now() : nullptr;
    const task::Task* any = row != nullptr ? row : change.before ? &*change.before : nullptr;
    if (any == nullptr || any->spec.unique_key.value.empty()) return;
    const task::Account account = task::account_of(any->spec);
    const bool unfinished = change.after.has_value() && !is_over(change.after->state);
    const auto holder = holders_.find(account);
    if (unfinished && holder != holders_.end() && holder->second != change.id) {
      broken("I2 one task per key",
             fmt::format("{} and {} are both unfinished under one key",
                         task::to_string(holder->second), task::to_string(change.id)),
             change.id, change.at);
    }
    if (unfinished) holders_[account] = change.id;
    if (!unfinished && holder != holders_.end() && holder->second == change.id) {
      holders_.erase(holder);
    }
  }

  void insert_made(const InsertMade& made) override {
    for (std::size_t i = 0; i < made.batch.size(); ++i) {
      const store::Inserted& item = made.answer.items[i];
      if (item.result != store::Insertion::kKeyTaken) continue;
      const auto holder = holders_.find(task::account_of(made.batch[i].spec));
      if (holder != holders_.end() && holder->second == item.task) continue;
      broken("I2 one task per key", "a submit was told that its key is taken, by nobody",
             made.batch[i].id, made.at);
    }
  }

 private:
  std::map<task::Account, task::TaskId> holders_;
};

// I3: a running task has one owner, and no other task has any; an owner loses it only by its own
// write, after it was declared dead, or when its lease has ended.
class SingleOwner final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    if (change.after &&
        change.after->owner.has_value() != (change.after->state == State::kRunning)) {
      broken("I3 single owner",
             fmt::format("{} and {} an owner", task::to_string(change.after->state),
                         change.after->owner ? "with" : "without"),
             change.id, change.at);
    }
    if (!change.before || !change.before->owner) return;
    if (change.after && change.after->owner == change.before->owner) return;
    if (may_lose(change)) return;
    broken("I3 single owner",
           fmt::format("{} took it from {}, who was alive", to_string(change.verb),
                       task::to_string(*change.before->owner)),
           change.id, change.at);
  }

 private:
  bool may_lose(const RowChange& change) const {
    const task::Task& before = *change.before;
    if (change.verb == Verb::kApply) {
      return change.shown != nullptr && change.shown->ticket == before.ticket;
    }
    if (change.verb == Verb::kClaim) return before.lease_end && *before.lease_end <= change.at;
    const auto* node = std::get_if<task::Incarnation>(&*before.owner);
    return change.verb == Verb::kAdopt && node != nullptr && is_dead(*node);
  }
};

// I4: every claim, adoption, outcome and control raises the fence by exactly one; nothing else
// touches it, and what is lent keeps it. A claim that at once carries out what was asked for is two
// steps.
class FenceOrder final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const task::Task* after = change.now();
    if (after == nullptr) return;
    const std::int64_t was = change.before ? change.before->ticket.fence.value : 0;
    const std::int64_t is = after->ticket.fence.value;
    if (is - was == steps(change, *after)) return;
    broken("I4 fence order",
           fmt::format("{} moved the fence from {} to {}", to_string(change.verb), was, is),
           change.id, change.at);
  }

 private:
  static std::int64_t steps(const RowChange& change, const task::Task& after) {
    switch (change.verb) {
      case Verb::kInsert: return after.state == State::kRunning ? 1 : 0;
      case Verb::kClaim: return after.state == State::kRunning ? 1 : 2;
      case Verb::kControl: return change.before->state == State::kRunning ? 0 : 1;
      case Verb::kStarts:
      case Verb::kRenew: return 0;
      // To whom it is lent, the ticket is lent too.
      case Verb::kApply: return after.owner && after.owner != change.before->owner ? 0 : 1;
      default: return 1;
    }
  }
};

// I5: an owner's write changes only the rows it names, and those only while they carry the fence
// and lease id it shows.
class FencedCommit final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    if (change.verb != Verb::kApply) return;
    if (change.shown == nullptr || !change.before) {
      broken("I5 fenced commit", "an owner's write changed a row that it did not name", change.id,
             change.at);
    } else if (change.shown->ticket != change.before->ticket) {
      broken("I5 fenced commit",
             fmt::format("a write decided under fence {} changed a row at fence {}",
                         change.shown->ticket.fence.value, change.before->ticket.fence.value),
             change.id, change.at);
    }
  }
};

// I8: only the published moves. Who may cause which is part of it: no machine moves what waits for
// a person, and nobody what is finished.
class PublishedMoves final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const task::Task* after = change.now();
    if (after == nullptr) return;
    if (allowed(change, after->state)) return;
    broken("I8 published moves",
           fmt::format("{}: {} -> {}", to_string(change.verb),
                       change.before ? task::to_string(change.before->state) : "nothing",
                       task::to_string(after->state)),
           change.id, change.at);
  }

 private:
  static bool one_of(State state, std::initializer_list<State> states) {
    return std::ranges::find(states, state) != states.end();
  }
  static bool allowed(const RowChange& change, State to) {
    if (!change.before) {
      return change.verb == Verb::kInsert && one_of(to, {State::kPending, State::kRunning});
    }
    const State from = change.before->state;
    const State wish = wished(change.before->requested);
    switch (change.verb) {
      case Verb::kClaim:
        if (from == State::kPending) return to == State::kRunning;
        // Asked to retry now: handed back, for whoever is next.
        if (change.before->requested == Move::kRetryNow && to == State::kPending) return true;
        return from == State::kRunning && one_of(to, {State::kRunning, State::kDead, wish});
      case Verb::kApply: return from == State::kRunning;
      case Verb::kAdopt:
        return from == State::kRunning && to != State::kRunning &&
               one_of(to, {State::kPending, State::kDead, wish});
      case Verb::kStarts:
      case Verb::kRenew: return from == State::kRunning && to == State::kRunning;
      case Verb::kControl: return by_people(from, to);
      default: return false;
    }
  }
  static bool by_people(State from, State to) {
    if (from == to) return !is_over(from);
    switch (from) {
      case State::kPending:
        return one_of(to, {State::kPaused, State::kCancelled, State::kResolved, State::kIgnored});
      case State::kPaused:
        return one_of(to, {State::kPending, State::kCancelled, State::kResolved, State::kIgnored});
      case State::kDead:
      case State::kFailed: return one_of(to, {State::kPending, State::kResolved, State::kIgnored});
      default: return false;
    }
  }
};

// What a person asked of an owned task is carried out by whoever writes its row next; what really
// happened stands (a success, an end that a pause would undo). Where it is lent, the request stays
// for whoever reports.
class RequestsCarriedOut final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    const task::Task* after = change.now();
    if (!change.before || !change.before->requested || after == nullptr) return;
    if (change.verb != Verb::kApply && change.verb != Verb::kAdopt) return;
    const bool is_lent = after->owner && after->owner != change.before->owner;
    if (is_lent && after->requested == change.before->requested) return;
    const State wish = wished(change.before->requested);
    const bool stands = after->state == State::kSucceeded || wish == State::kRunning ||
                        (wish == State::kPaused && after->state != State::kPending &&
                         after->state != State::kRunning);
    if ((after->state == wish || stands) && !after->requested) return;
    broken("requests are carried out",
           fmt::format("{} was asked for, and {} left it {}",
                       task::to_string(*change.before->requested), to_string(change.verb),
                       task::to_string(after->state)),
           change.id, change.at);
  }
};

}  // namespace

void add_row_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<OneTaskPerKey>(ledger, data));
  checkers.push_back(std::make_unique<SingleOwner>(ledger, data));
  checkers.push_back(std::make_unique<FenceOrder>(ledger, data));
  checkers.push_back(std::make_unique<FencedCommit>(ledger, data));
  checkers.push_back(std::make_unique<PublishedMoves>(ledger, data));
  checkers.push_back(std::make_unique<RequestsCarriedOut>(ledger, data));
}

}  // namespace recourse::sim
