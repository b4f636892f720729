// A task that this node owns, and where it stands on its way through the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "store/work.h"
#include "task/record.h"
#include "timing/timer.h"

namespace recourse::engine {

class Lane;

// What waits in the wheel.
struct CoreTimer : timing::Timer {
  enum class What : std::uint8_t {
    kSticky,   // a HeldTask whose retry comes due
    kTimeout,  // a RunningAttempt whose time is up
  };
  explicit CoreTimer(What w) : what(w) {}

  const What what;
};

enum class Stage : std::uint8_t {
  kQueued,     // in its lane, for a free place
  kWaiting,    // in the wheel, for its next retry
  kRecording,  // its start is being written down
  kRunning,
  kWriting,    // what became of it is on its way to the store
  kFollowing,  // what follows from it is, and has to be there first
};

// It waits here, and nothing of it is under way.
constexpr bool is_unstarted(Stage stage) {
  return stage == Stage::kQueued || stage == Stage::kWaiting;
}

// What one answer of a handler may bring with it.
inline constexpr std::size_t kFollowUpsMax = 100;
inline constexpr std::size_t kFollowUpBytesMax = std::size_t{4} * 1024 * 1024;
inline constexpr std::string_view kFollowUpInvalid = "FOLLOW_UP_INVALID";

struct HeldTask final : CoreTimer {
  HeldTask(std::shared_ptr<const task::Task> t, Lane* l)
      : CoreTimer(What::kSticky), task(std::move(t)), lane(l) {}

  // Shared with the attempt that runs it, which may outlive the holding.
  std::shared_ptr<const task::Task> task;
  // None where no handler of this node fits.
  Lane* lane;
  Stage stage = Stage::kQueued;
  // Counts up over the node with every change of stage: what has not changed since a question was
  // sent can be compared with its answer.
  std::uint64_t changed = 0;
  // Of the answer that is being carried out.
  std::vector<store::Submission> follow_ups;
};

// What it costs to hold it.
inline std::size_t bytes_of(const task::Task& task) {
  std::size_t bytes = sizeof(task::Task) + task.spec.payload.size();
  for (const auto& [name, value] : task.spec.headers) bytes += name.size() + value.size();
  if (task.last_error) bytes += task.last_error->message.size();
  return bytes;
}

}  // namespace recourse::engine
