// One invariant each, judged by what the ledger and the store's rows show. A checker shares no rule
// with the product: where both need one, it is written here a second time, from its description.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sim/ledger.h"
#include "store/cases.h"
#include "store/memory/data.h"
#include "store/node.h"
#include "store/work.h"

namespace recourse::sim {

// One incarnation was declared dead by another.
struct Death {
  TimePoint at;
  store::NodeRow victim;
  task::Incarnation by;
  // When it decided to, its own heartbeats had succeeded for a whole TTL.
  bool declarer_was_healthy = true;
};

// One call of insert, as it was answered at the moment of its commit.
struct InsertMade {
  TimePoint at;
  std::span<const store::Submission> batch;
  const store::InsertAnswer& answer;
};

class Checker {
 public:
  Checker(Ledger& ledger, const store::memory::Data& data) : ledger_(ledger), data_(data) {}
  virtual ~Checker() = default;

  virtual void row_changed(const RowChange&) {}
  virtual void insert_made(const InsertMade&) {}
  // The submitter was told that `task` holds its work.
  virtual void acknowledged(const task::TaskId& /*submitted*/, const task::TaskId& /*task*/,
                            TimePoint) {}
  // The handler is about to be called; its run is the newest of the ledger.
  virtual void handler_started(const HandlerRun&) {}
  // A process gives an outcome to the store, for the first time or again.
  virtual void outcome_sent(int /*node*/, std::uint64_t /*process*/, const task::Transition&,
                            TimePoint) {}
  virtual void node_changed(TimePoint) {}
  virtual void died(const Death&) {}
  // A clean stop is over, and what it had in flight has had its time.
  virtual void left(const task::Incarnation&, TimePoint) {}
  virtual void note_kept(const store::Jotting&, TimePoint) {}
  virtual void purged(std::size_t /*tasks*/, std::size_t /*audit rows*/, TimePoint) {}
  // A teller has it from here on, until the time in it.
  virtual void case_taken(const store::Case&, TimePoint) {}
  // Whoever held it has said until when nobody needs to look at it, which may be sooner.
  // Not certain: not before then.
  virtual void case_put_off(const store::Case&, TimePoint /*until*/, bool /*certain*/) {}
  // People were told, as it stood when it was taken.
  virtual void case_told(const store::Case&, TimePoint) {}
  virtual void case_assigned(const store::Case&, TimePoint) {}
  // The quiet period is over.
  virtual void at_end(TimePoint) {}

 protected:
  void broken(std::string_view invariant, std::string what, const task::TaskId& task,
              TimePoint at) {
    ledger_.broken(invariant, std::move(what), task, at);
  }
  [[nodiscard]] const task::Task* row(const task::TaskId& id) const {
    if (const task::Task* live = data_.find_live(id)) return live;
    const auto archived = data_.archived.find(id);
    return archived == data_.archived.end() ? nullptr : &archived->second.task;
  }
  [[nodiscard]] bool is_dead(const task::Incarnation& node) const {
    const auto found = data_.nodes.find(node);
    return found == data_.nodes.end() || found->second.dead;
  }

  Ledger& ledger_;
  const store::memory::Data& data_;
};

using Checkers = std::vector<std::unique_ptr<Checker>>;

// All of them.
Checkers make_checkers(Ledger& ledger, const store::memory::Data& data);
void add_row_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);
void add_attempt_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);
void add_book_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);
void add_node_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);
void add_follow_up_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);
void add_note_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);
void add_case_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data);

}  // namespace recourse::sim
