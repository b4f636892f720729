// How a failure stands, as those see it who only want to know whether it was made good: three words
// over the states of a task.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "task/state.h"

namespace recourse::degrade {

enum class Status : std::uint8_t {
  kPending,    // will be tried again
  kCompleted,  // done, by a retry or by a person; nothing is left to do
  kFailed,     // the retries are used up: a person has to look
};

inline constexpr std::array kAllStatuses{Status::kPending, Status::kCompleted, Status::kFailed};

constexpr std::string_view to_string(Status status) {
  switch (status) {
    case Status::kPending: return "PENDING";
    case Status::kCompleted: return "COMPLETED";
    case Status::kFailed: return "FAILED";
  }
  std::abort();
}

constexpr std::optional<Status> parse_status(std::string_view name) {
  for (const Status status : kAllStatuses) {
    if (to_string(status) == name) return status;
  }
  return std::nullopt;
}

constexpr Status status_of(task::State state) {
  switch (state) {
    case task::State::kPending:
    case task::State::kRunning:
    case task::State::kPaused: return Status::kPending;
    case task::State::kSucceeded:
    case task::State::kCancelled:
    case task::State::kResolved:
    case task::State::kIgnored: return Status::kCompleted;
    case task::State::kFailed:
    case task::State::kDead: return Status::kFailed;
  }
  std::abort();
}

inline std::vector<task::State> states_of(Status status) {
  std::vector<task::State> states;
  for (const task::State state : task::kAllStates) {
    if (status_of(state) == status) states.push_back(state);
  }
  return states;
}

}  // namespace recourse::degrade
