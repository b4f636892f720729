// The one lifecycle. Every state, every move, and the table of all that may happen; what is not in
// the table is forbidden, and the compiler proves the claims at the end of this file.
//
//   pending ──claim──> running ──succeed──> succeeded
//      ^                │ │ │
//      ├─ retry, release┘ │ └─ give_up, fail ──> dead, failed   (a person decides)
//      │  adopt           │
//      └──── resume ──── paused            people: cancel, resolve, ignore, reopen, retry_now
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace recourse::task {

enum class State : std::uint8_t {
  kPending,    // waits for its time and for a node
  kRunning,    // has an owner
  kPaused,     // held back by a person or a decision
  kSucceeded,  // done
  kFailed,     // ended by an explicit decision; waits for a person
  kDead,       // ended badly in any other way; waits for a person
  kCancelled,  // no longer wanted
  kResolved,   // a person has seen to it elsewhere
  kIgnored,    // a person decided that it does not matter
};

inline constexpr std::array kAllStates{State::kPending,   State::kRunning,  State::kPaused,
                                       State::kSucceeded, State::kFailed,   State::kDead,
                                       State::kCancelled, State::kResolved, State::kIgnored};

// The spelling in the database, JSON, logs and metrics.
constexpr std::string_view to_string(State state) {
  switch (state) {
    case State::kPending: return "pending";
    case State::kRunning: return "running";
    case State::kPaused: return "paused";
    case State::kSucceeded: return "succeeded";
    case State::kFailed: return "failed";
    case State::kDead: return "dead";
    case State::kCancelled: return "cancelled";
    case State::kResolved: return "resolved";
    case State::kIgnored: return "ignored";
  }
  std::abort();
}

enum class Move : std::uint8_t {
  kClaim,      // a node takes what is due
  kTakeOver,   // a worker's lease ended: the next one takes it
  kAdopt,      // the owner was declared dead: free again
  kRetry,      // an attempt failed: later, by any node
  kRetryHere,  // an attempt failed: later, by the same owner, who keeps it in its wheel
  kRelease,    // handed back without having run: shutdown, put off
  kLend,       // whom the owner called goes on with it, under the owner's own ticket
  kSucceed,
  kFail,
  kGiveUp,
  kPause,
  kResume,
  kCancel,
  kResolve,
  kIgnore,
  kRetryNow,  // do not wait for the next retry's time
  kReopen,    // a new episode: retries start over, history stays
};

inline constexpr std::array kAllMoves{
    Move::kClaim,    Move::kTakeOver, Move::kAdopt,   Move::kRetry,   Move::kRetryHere,
    Move::kRelease,  Move::kLend,     Move::kSucceed, Move::kFail,    Move::kGiveUp,
    Move::kPause,    Move::kResume,   Move::kCancel,  Move::kResolve, Move::kIgnore,
    Move::kRetryNow, Move::kReopen};

constexpr std::string_view to_string(Move move) {
  switch (move) {
    case Move::kClaim: return "claim";
    case Move::kTakeOver: return "take_over";
    case Move::kAdopt: return "adopt";
    case Move::kRetry: return "retry";
    case Move::kRetryHere: return "retry_here";
    case Move::kRelease: return "release";
    case Move::kLend: return "lend";
    case Move::kSucceed: return "succeed";
    case Move::kFail: return "fail";
    case Move::kGiveUp: return "give_up";
    case Move::kPause: return "pause";
    case Move::kResume: return "resume";
    case Move::kCancel: return "cancel";
    case Move::kResolve: return "resolve";
    case Move::kIgnore: return "ignore";
    case Move::kRetryNow: return "retry_now";
    case Move::kReopen: return "reopen";
  }
  std::abort();
}

// Finished work leaves the hot table for the archive; nothing moves it again.
constexpr bool is_finished(State state) {
  return state == State::kSucceeded || state == State::kCancelled || state == State::kResolved ||
         state == State::kIgnored;
}

// Kept until a person decides; no timer cleans these up.
constexpr bool needs_person(State state) {
  return state == State::kDead || state == State::kFailed;
}

// What a person may ask for.
constexpr bool is_control(Move move) {
  return move == Move::kPause || move == Move::kResume || move == Move::kCancel ||
         move == Move::kResolve || move == Move::kIgnore || move == Move::kRetryNow ||
         move == Move::kReopen;
}

struct Edge {
  State from;
  Move move;
  State to;
};

inline constexpr std::array kEdges{
    Edge{State::kPending, Move::kClaim, State::kRunning},
    Edge{State::kPending, Move::kGiveUp,
         State::kDead},  // its deadline passed, or nobody handles it
    Edge{State::kPending, Move::kPause, State::kPaused},
    Edge{State::kPending, Move::kCancel, State::kCancelled},
    Edge{State::kPending, Move::kResolve, State::kResolved},
    Edge{State::kPending, Move::kIgnore, State::kIgnored},
    Edge{State::kPending, Move::kRetryNow, State::kPending},

    Edge{State::kRunning, Move::kTakeOver, State::kRunning},
    Edge{State::kRunning, Move::kAdopt, State::kPending},
    Edge{State::kRunning, Move::kRetry, State::kPending},
    Edge{State::kRunning, Move::kRetryHere, State::kRunning},
    Edge{State::kRunning, Move::kRelease, State::kPending},
    Edge{State::kRunning, Move::kLend, State::kRunning},
    Edge{State::kRunning, Move::kSucceed, State::kSucceeded},
    Edge{State::kRunning, Move::kFail, State::kFailed},
    Edge{State::kRunning, Move::kGiveUp, State::kDead},
    Edge{State::kRunning, Move::kPause, State::kPaused},
    Edge{State::kRunning, Move::kCancel, State::kCancelled},
    Edge{State::kRunning, Move::kResolve, State::kResolved},
    Edge{State::kRunning, Move::kIgnore, State::kIgnored},

    Edge{State::kPaused, Move::kResume, State::kPending},
    Edge{State::kPaused, Move::kCancel, State::kCancelled},
    Edge{State::kPaused, Move::kResolve, State::kResolved},
    Edge{State::kPaused, Move::kIgnore, State::kIgnored},

    Edge{State::kFailed, Move::kReopen, State::kPending},
    Edge{State::kFailed, Move::kResolve, State::kResolved},
    Edge{State::kFailed, Move::kIgnore, State::kIgnored},
    Edge{State::kDead, Move::kReopen, State::kPending},
    Edge{State::kDead, Move::kResolve, State::kResolved},
    Edge{State::kDead, Move::kIgnore, State::kIgnored},
};

constexpr std::optional<State> next_state(State from, Move move) {
  for (const Edge& edge : kEdges) {
    if (edge.from == from && edge.move == move) return edge.to;
  }
  return std::nullopt;
}

// For moves that people ask for: the refusal names the state and what could be done instead.
Result<State> try_move(State from, Move move);

namespace proof {

template <class Claim>
constexpr bool for_every_edge(Claim claim) {
  for (const Edge& edge : kEdges) {
    if (!claim(edge)) return false;
  }
  return true;
}

constexpr int moves_from(State from, Move move) {
  int count = 0;
  for (const Edge& edge : kEdges) count += edge.from == from && edge.move == move ? 1 : 0;
  return count;
}

constexpr bool can_reach_finished(State state, int steps) {
  if (is_finished(state)) return true;
  for (const Edge& edge : kEdges) {
    if (steps > 0 && edge.from == state && can_reach_finished(edge.to, steps - 1)) return true;
  }
  return false;
}

static_assert(for_every_edge([](Edge e) { return moves_from(e.from, e.move) == 1; }),
              "a move from a state leads to one state only");
static_assert(for_every_edge([](Edge e) { return !is_finished(e.from); }),
              "finished work never moves again");
static_assert(for_every_edge([](Edge e) { return !needs_person(e.from) || is_control(e.move); }),
              "what failed waits for a person, never for a machine");
static_assert(for_every_edge([](Edge e) {
                return e.to != State::kRunning || e.from == State::kPending ||
                       e.from == State::kRunning;
              }),
              "only what is pending, or already owned, is run");
static_assert(for_every_edge([](Edge e) {
                return e.to != State::kFailed || e.move == Move::kFail;
              }),
              "failed arises by an explicit decision only");
static_assert(for_every_edge([](Edge e) {
                return e.to != State::kSucceeded || e.from == State::kRunning;
              }),
              "only an owner can succeed");
static_assert(for_every_edge([](Edge e) { return can_reach_finished(e.to, 3); }),
              "there is a way out of every state");

}  // namespace proof

}  // namespace recourse::task
