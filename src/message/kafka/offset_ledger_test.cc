#include "message/kafka/offset_ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace recourse::message::kafka {
namespace {

using Delivery = OffsetLedger::Delivery;

TEST(OffsetLedger, CommitsOnlyUpToTheFirstUndecidedMessage) {
  OffsetLedger ledger;
  for (Offset offset = 10; offset < 14; ++offset)
    EXPECT_EQ(ledger.deliver(offset), Delivery::kFirst);

  ledger.done(11);
  ledger.done(12);
  EXPECT_EQ(ledger.to_commit(), 10);
  ledger.done(10);

  EXPECT_EQ(ledger.to_commit(), 13);
  ledger.committed(13);
  EXPECT_EQ(ledger.to_commit(), std::nullopt);
}

TEST(OffsetLedger, DeliversAgainWhatWasGivenBackAndNothingElse) {
  OffsetLedger ledger;
  for (Offset offset = 0; offset < 4; ++offset) (void)ledger.deliver(offset);
  ledger.done(0);
  ledger.give_back(1);
  ledger.done(2);

  ASSERT_EQ(ledger.to_seek(), 1);
  ledger.sought();

  EXPECT_EQ(ledger.deliver(1), Delivery::kAgain);
  EXPECT_EQ(ledger.deliver(2), Delivery::kSkip);
  EXPECT_EQ(ledger.deliver(3), Delivery::kSkip);
  EXPECT_EQ(ledger.deliver(4), Delivery::kFirst);
  EXPECT_EQ(ledger.to_seek(), std::nullopt);
}

TEST(OffsetLedger, WhatWasGivenBackAndHasLeftTheLogHoldsNothingUp) {
  OffsetLedger ledger;
  for (Offset offset = 0; offset < 3; ++offset) (void)ledger.deliver(offset);
  ledger.give_back(0);
  ledger.done(1);
  ledger.done(2);
  ledger.sought();

  EXPECT_EQ(ledger.deliver(3), Delivery::kFirst);

  EXPECT_EQ(ledger.to_commit(), 3);
}

// MSG-12: whatever is decided in whatever order, nothing undecided is ever acknowledged.
RC_GTEST_PROP(OffsetLedger, NeverCommitsPastAnUndecidedMessage, ()) {
  OffsetLedger ledger;
  std::map<Offset, char> state;  // o: out, d: done, w: given back
  Offset position = 0;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      200, rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 1'000)));
  for (const auto& [step, choice] : steps) {
    if (step <= 1) {
      const Delivery delivery = ledger.deliver(position);
      const char before = state.contains(position) ? state[position] : '-';
      RC_ASSERT((delivery == Delivery::kSkip) == (before == 'o' || before == 'd'));
      if (delivery != Delivery::kSkip) state[position] = 'o';
      ++position;
    } else if (!state.empty()) {
      auto one = std::next(state.begin(), choice % static_cast<int>(state.size()));
      if (one->second != 'o') continue;
      one->second = step == 2 ? 'd' : 'w';
      step == 2 ? ledger.done(one->first) : ledger.give_back(one->first);
      if (const auto back = ledger.to_seek()) {
        position = *back;
        ledger.sought();
      }
    }
    const Offset commit = ledger.to_commit().value_or(0);
    for (const auto& [offset, is] : state) RC_ASSERT(offset >= commit || is == 'd');
  }
}

}  // namespace
}  // namespace recourse::message::kafka
