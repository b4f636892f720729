// Handlers whose answers bring tasks with them: every seventh attempt that succeeds.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/event.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::sim {

inline constexpr std::uint32_t kFollowUps = 2;

// None of a task that is one itself: a run has an end.
std::vector<store::Submission> draw_follow_ups(engine::AttemptId attempt, const task::Task& task,
                                               const engine::AttemptResult& result);

}  // namespace recourse::sim
