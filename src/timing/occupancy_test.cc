#include "timing/occupancy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace recourse::timing {
namespace {

RC_GTEST_PROP(Occupancy, KnowsTheFirstOccupiedSlotLikeASortedSet, ()) {
  using Step = std::pair<bool, std::size_t>;
  const auto steps = *rc::gen::container<std::vector<Step>>(rc::gen::pair(
      rc::gen::arbitrary<bool>(), rc::gen::inRange<std::size_t>(0, Occupancy::kSlotsMax)));
  Occupancy occupancy;
  std::set<std::size_t> model;

  for (const auto& [set, slot] : steps) {
    set ? occupancy.set(slot) : occupancy.clear(slot);
    set ? (void)model.insert(slot) : (void)model.erase(slot);

    RC_ASSERT(occupancy.any() == !model.empty());
    if (!model.empty()) RC_ASSERT(occupancy.first() == *model.begin());
  }
}

}  // namespace
}  // namespace recourse::timing
