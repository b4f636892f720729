// What people want of tasks, in the API's words.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "api/desk.h"
#include "task/control.h"

namespace recourse::api {

enum class Action : std::uint8_t { kRetry, kCancel, kPause, kResume, kResolve, kIgnore };

inline constexpr std::array kAllActions{Action::kRetry,  Action::kCancel,  Action::kPause,
                                        Action::kResume, Action::kResolve, Action::kIgnore};

constexpr std::string_view to_string(Action action) {
  switch (action) {
    case Action::kRetry: return "retry";
    case Action::kCancel: return "cancel";
    case Action::kPause: return "pause";
    case Action::kResume: return "resume";
    case Action::kResolve: return "resolve";
    case Action::kIgnore: return "ignore";
  }
  std::abort();
}

constexpr std::string_view to_string(task::Effect effect) {
  return effect == task::Effect::kDone ? "done" : "requested";
}

std::optional<Action> parse_action(std::string_view name);
// To retry what waits is not to wait any longer; of what is dead or failed it is a new episode.
task::Move move_of(Action action, task::State state);

// The task that the path names, where the caller may see it. To others it does not exist.
Result<task::Task> find_task(Desk& desk, const Call& call);

// What was asked for may concern any node.
void tell_owners(Desk& desk);

Result<task::Effect> control_one(Desk& desk, task::TaskId id, const task::Order& order,
                                 std::string_view by);

}  // namespace recourse::api
