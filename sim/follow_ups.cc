#include "sim/follow_ups.h"

#include <utility>

#include "sim/plan.h"
#include "task/follow_up.h"

namespace recourse::sim {
namespace {

constexpr std::uint64_t kFollowsEvery = 7;
constexpr const char* kIsOne = "follow-up";

}  // namespace

std::vector<store::Submission> draw_follow_ups(engine::AttemptId attempt, const task::Task& task,
                                               const engine::AttemptResult& result) {
  std::vector<store::Submission> next;
  const bool succeeds = std::holds_alternative<engine::Succeeded>(result);
  if (attempt.value % kFollowsEvery != 0 || !succeeds || task.spec.payload == kIsOne) return next;
  for (std::uint32_t i = 0; i < kFollowUps; ++i) {
    store::Submission one;
    one.id = task::follow_up_id(task.id, task.episode, i);
    one.spec.kind = task::Kind(kCalmKind);
    one.spec.payload = kIsOne;
    next.push_back(std::move(one));
  }
  return next;
}

}  // namespace recourse::sim
