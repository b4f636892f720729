#include "task/state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

#include "base/named.h"

namespace recourse::task {
namespace {

TEST(State, EveryNameParsesBack) {
  for (const State state : kAllStates) EXPECT_EQ(find_named(kAllStates, to_string(state)), state);
  for (const Move move : kAllMoves) EXPECT_EQ(find_named(kAllMoves, to_string(move)), move);
}

// The table once more, as the documentation tells it: a change here is a change of the product.
TEST(State, EveryPairOfStateAndMoveIsInTheTableOrRefused) {
  const std::set<std::string> allowed{
      "pending claim running",     "pending give_up dead",      "pending pause paused",
      "pending cancel cancelled",  "pending resolve resolved",  "pending ignore ignored",
      "pending retry_now pending", "running take_over running", "running adopt pending",
      "running lend running",      "running retry pending",     "running retry_here running",
      "running release pending",   "running succeed succeeded", "running fail failed",
      "running give_up dead",      "running pause paused",      "running cancel cancelled",
      "running resolve resolved",  "running ignore ignored",    "paused resume pending",
      "paused cancel cancelled",   "paused resolve resolved",   "paused ignore ignored",
      "failed reopen pending",     "failed resolve resolved",   "failed ignore ignored",
      "dead reopen pending",       "dead resolve resolved",     "dead ignore ignored"};
  std::set<std::string> found;

  for (const State from : kAllStates) {
    for (const Move move : kAllMoves) {
      const Result<State> to = try_move(from, move);
      EXPECT_EQ(to.has_value(), next_state(from, move).has_value());
      if (to) {
        found.insert(std::string(to_string(from)) + ' ' + std::string(to_string(move)) + ' ' +
                     std::string(to_string(*to)));
      } else {
        EXPECT_EQ(to.error().code, ErrorCode::kConflict);
      }
    }
  }

  EXPECT_EQ(found, allowed);
}

TEST(State, ARefusedMoveSaysWhatCouldBeDoneInstead) {
  EXPECT_EQ(try_move(State::kDead, Move::kResume).error().message,
            "cannot resume a task that is dead; possible: reopen, resolve, ignore");
  EXPECT_EQ(try_move(State::kSucceeded, Move::kCancel).error().message,
            "cannot cancel a task that is succeeded; possible: nothing, it is finished");
}

RC_GTEST_PROP(State, NoSequenceOfMovesLeavesAFinishedState, ()) {
  State state = State::kPending;
  bool finished = false;

  for (const Move move : *rc::gen::container<std::vector<Move>>(rc::gen::elementOf(kAllMoves))) {
    if (const Result<State> to = try_move(state, move)) {
      RC_ASSERT(!finished);
      state = *to;
    }
    finished = is_finished(state);
  }
}

TEST(State, ARefusalOffersOnlyWhatPeopleMayAskFor) {
  EXPECT_EQ(try_move(State::kRunning, Move::kResume).error().message,
            "cannot resume a task that is running; possible: pause, cancel, resolve, ignore");
}

}  // namespace
}  // namespace recourse::task
