// How a message stands, by the numbers that its consumers know: four words over the states of a
// task.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "task/state.h"

namespace recourse::message {

// The numbers are part of the interface.
enum class Status : std::uint8_t {
  kRetrying = 0,   // will be tried again
  kPending = 1,    // the retries are used up, or would not help: a person has to look
  kProcessed = 2,  // done, by a retry or by a person
  kIgnored = 3,    // somebody decided that nothing is to be done
};

inline constexpr std::array kAllStatuses{Status::kRetrying, Status::kPending, Status::kProcessed,
                                         Status::kIgnored};

constexpr int number_of(Status status) { return static_cast<int>(status); }

constexpr std::string_view to_string(Status status) {
  switch (status) {
    case Status::kRetrying: return "RETRYING";
    case Status::kPending: return "PENDING";
    case Status::kProcessed: return "PROCESSED";
    case Status::kIgnored: return "IGNORED";
  }
  std::abort();
}

// A word or a number.
constexpr std::optional<Status> parse_status(std::string_view text) {
  for (const Status status : kAllStatuses) {
    if (to_string(status) == text) return status;
    if (text.size() == 1 && text.front() == '0' + number_of(status)) return status;
  }
  return std::nullopt;
}

constexpr Status status_of(task::State state) {
  switch (state) {
    case task::State::kPending:
    case task::State::kRunning:
    case task::State::kPaused: return Status::kRetrying;
    case task::State::kFailed:
    case task::State::kDead: return Status::kPending;
    case task::State::kSucceeded:
    case task::State::kResolved: return Status::kProcessed;
    case task::State::kCancelled:
    case task::State::kIgnored: return Status::kIgnored;
  }
  std::abort();
}

// False where the record says nothing of its message: it was published again, and what becomes of
// the copy is what counts; or somebody cancelled the task. In no figure of messages.
constexpr bool is_counted(task::State state) { return state != task::State::kCancelled; }

inline std::vector<task::State> states_of(Status status) {
  std::vector<task::State> states;
  for (const task::State state : task::kAllStates) {
    if (status_of(state) == status) states.push_back(state);
  }
  return states;
}

// Of several records under one message id, which one is told: the one that needs attention most.
constexpr int attention(Status status) {
  switch (status) {
    case Status::kPending: return 3;
    case Status::kRetrying: return 2;
    case Status::kIgnored: return 1;
    case Status::kProcessed: return 0;
  }
  std::abort();
}

}  // namespace recourse::message
