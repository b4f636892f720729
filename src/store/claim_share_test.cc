#include "store/claim_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace recourse::store {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

task::TaskId id_of(int number) {
  Ulid id;
  id.bytes[14] = static_cast<std::uint8_t>(number / 256);
  id.bytes[15] = static_cast<std::uint8_t>(number % 256);
  return task::TaskId(id);
}

// The number is its age: smaller is older.
Candidate due(int number, int priority, std::string tenant = "") {
  return {.task = id_of(number),
          .tenant = task::Tenant(std::move(tenant)),
          .priority = priority,
          .available_at = TimePoint(Duration(number))};
}

TEST(OldestShare, IsATenthOverTenTurnsWhateverTheLimit) {
  for (int limit = 0; limit <= 500; ++limit) {
    int sum = 0;
    for (std::uint32_t turn = 0; turn < 10; ++turn) {
      const int share = oldest_share(limit, turn);
      EXPECT_GE(share, limit / 10);
      EXPECT_LE(share, (limit + 9) / 10);
      sum += share;
    }
    EXPECT_EQ(sum, limit);
  }
}

TEST(PickOldest, TakesTheOldestOfAnyPriority) {
  EXPECT_THAT(pick_oldest({due(3, 10), due(1, 0), due(2, 5)}, 2), ElementsAre(id_of(1), id_of(2)));
}

TEST(PickFairly, LetsTenantsTakeTurns) {
  EXPECT_THAT(pick_fairly({due(1, 5, "a"), due(2, 5, "a"), due(3, 5, "a"), due(4, 5, "b")}, 3, 2),
              ElementsAre(id_of(1), id_of(4), id_of(2)));
}

TEST(PickFairly, FillsUpWhereNobodyElseWaits) {
  EXPECT_THAT(pick_fairly({due(1, 5, "a"), due(2, 5, "a"), due(3, 5, "a")}, 3, 1), SizeIs(3));
}

TEST(PickFairly, PutsALargerPriorityFirst) {
  EXPECT_THAT(pick_fairly({due(1, 0, "a"), due(2, 10, "b")}, 1, 1), ElementsAre(id_of(2)));
}

TEST(InTurns, StartsWithWhoHasLeast) {
  const auto first = in_turns({due(1, 5, "a"), due(2, 5, "b")}, 1, {{task::Tenant("a"), 3}});

  EXPECT_EQ(first.front().tenant, task::Tenant("b"));
}

RC_GTEST_PROP(PickFairly, NeverTakesOneTwiceAndNeverLeavesRoomUnused, ()) {
  std::vector<Candidate> candidates;
  const int count = *rc::gen::inRange(0, 60);
  for (int i = 0; i < count; ++i) {
    candidates.push_back(
        due(i, *rc::gen::inRange(0, 11), std::string(1, *rc::gen::elementOf(std::string("abc")))));
  }
  const auto limit = static_cast<std::size_t>(*rc::gen::inRange(0, 80));
  const auto tenant_max = static_cast<std::size_t>(*rc::gen::inRange(1, 20));

  std::vector<task::TaskId> picked = pick_fairly(candidates, limit, tenant_max);

  RC_ASSERT(picked.size() == std::min(limit, candidates.size()));
  std::ranges::sort(picked);
  RC_ASSERT(std::ranges::adjacent_find(picked) == picked.end());
}

}  // namespace
}  // namespace recourse::store
