// Where a success is recorded, what follows from it exists. (That each exists once is I1.)
#include <fmt/format.h>

#include "sim/checker.h"
#include "sim/follow_ups.h"
#include "task/follow_up.h"

namespace recourse::sim {
namespace {

class FollowUpsFirst final : public Checker {
 public:
  using Checker::Checker;

  void row_changed(const RowChange& change) override {
    if (change.archived == nullptr || change.archived->state != task::State::kSucceeded) return;
    task::Ticket ran = change.archived->ticket;
    --ran.fence.value;
    if (!ledger_.brought_follow_ups.contains({change.id, ran})) return;
    for (std::uint32_t i = 0; i < kFollowUps; ++i) {
      const task::TaskId next = task::follow_up_id(change.id, change.archived->episode, i);
      if (row(next) != nullptr || ledger_.purged.contains(next)) continue;
      broken("a success has its follow-ups", fmt::format("the one of index {} is not there", i),
             change.id, change.at);
    }
  }
};

}  // namespace

void add_follow_up_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<FollowUpsFirst>(ledger, data));
}

}  // namespace recourse::sim
