// Random operations, chosen by what the first side (the model) knows, and carried out by every side
// in the same way.
//
// A claim that takes less than all that is due depends on the order of times, and those are each
// store's own: such a claim is made only where all sides have the same order without ties, and
// takes everything otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/ulid.h"
#include "store/inbox.h"
#include "store/work.h"
#include "tests/differential/side.h"

namespace recourse::tests::differential {

struct Operation {
  std::string text;
  // Does it, and answers in words.
  std::function<std::string(Side&)> on;
};

class Operations {
 public:
  explicit Operations(std::uint64_t seed)
      : rng_(seed), names_(seed), is_one_by_one_(seed % 2 == 1) {}

  Operation next(std::span<Side> sides);

  // How many claims took less than all.
  [[nodiscard]] int partial_claims() const { return partial_claims_; }

 private:
  using Items = std::vector<task::TaskId>;

  bool chance(int percent) { return rng_.between(1, 100) <= static_cast<std::uint64_t>(percent); }
  std::size_t below(std::size_t count) { return rng_.between(0, count - 1); }
  template <class T>
  const T& any_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  Ulid name();
  task::Kind any_kind();
  task::Owner any_owner();
  store::MessageKey any_message();
  // Ids of tasks that exist, or did; now and then one that never has.
  Items some_ids(std::size_t most);

  store::Submission fresh();
  Operation insert();
  Operation repeat_insert();
  Operation claim(std::span<Side> sides);
  Operation apply(const Side& model);
  Operation repeat_apply();
  Operation start_or_renew(const Side& model);
  Operation note(const Side& model);
  Operation look();
  Operation join();
  Operation beat();
  Operation bury(Side& model);
  Operation adopt();
  Operation order();
  Operation order_by_filter();
  Operation pause_kind();
  Operation purge();
  Operation deal();
  Operation look_through_inbox();
  Operation tell();
  Operation assign();
  store::Filter any_filter();
  task::Order any_order();

  Rng rng_;
  UlidSequence names_;
  // Half of the seeds submit one task at a time, so that their due times differ.
  bool is_one_by_one_;
  int partial_claims_ = 0;
  std::vector<task::TaskId> ids_;
  std::vector<store::Submission> submitted_;
  std::vector<task::Incarnation> nodes_;
};

}  // namespace recourse::tests::differential
