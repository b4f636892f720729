// Outcomes on their way into the store, gathered while calls are out. None is lost before the store
// has answered for it: after an error the same ones are offered again, and the store recognises
// what it has.
//
// Thread safety: none; the core owns it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/work.h"

namespace recourse::engine {

class OutcomeLine {
 public:
  explicit OutcomeLine(int calls) : calls_(calls) {}

  void add(store::Outcome outcome) { waiting_.push_back(std::move(outcome)); }

  // Empty while nothing waits, all calls are out, or the store is given a rest.
  std::optional<std::vector<store::Outcome>> take(TimePoint now);
  // The store answered.
  void taken() { end_call(), pause_ = Duration::zero(); }
  // It did not take them. Those it can never take are answered: the caller drops them.
  std::vector<store::Outcome> refused(std::vector<store::Outcome> batch, const Error& error,
                                      TimePoint now);

  [[nodiscard]] TimePoint next_wakeup() const;
  [[nodiscard]] std::size_t waiting() const { return waiting_.size() + again_.size(); }
  [[nodiscard]] bool idle() const { return waiting_.empty() && again_.empty() && out_ == 0; }

 private:
  void end_call() { --out_; }
  // Something waits that is worth a call, and one is free.
  [[nodiscard]] bool has_call() const;
  void rest(TimePoint now);
  void send_halves(std::vector<store::Outcome> batch);

  int calls_;
  int out_ = 0;
  std::deque<store::Outcome> waiting_;
  // To be sent in just these batches.
  std::deque<std::vector<store::Outcome>> again_;
  TimePoint not_before_ = TimePoint::min();
  Duration pause_{};
};

}  // namespace recourse::engine
