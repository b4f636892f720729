// The simulation itself: the same seed is the same run, and planted bugs are found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "base/planted_bug.h"
#include "sim/options.h"
#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

SeedResult run(std::uint64_t seed) {
  return std::make_unique<World>(seed, 5, Duration(1h))->run(20);
}

TEST(Simulation, TheSameSeedIsTheSameRun) {
  const SeedResult first = run(7);
  const SeedResult second = run(7);
  const SeedResult other = run(8);

  EXPECT_EQ(first.trace_hash, second.trace_hash);
  EXPECT_NE(first.trace_hash, other.trace_hash);
}

TEST(Simulation, NothingBreaksInAFewSeeds) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const SeedResult result = run(seed);

    ASSERT_FALSE(result.violation) << "seed " << seed << ": " << result.violation->invariant << "\n"
                                   << result.violation->what << "\n"
                                   << result.tail;
    EXPECT_GE(result.coverage.tasks, 1'000U);
    EXPECT_GE(result.coverage.fault_total(), 20U);
  }
}

TEST(Simulation, OptionsAreRefusedByName) {
  EXPECT_THAT(parse_options({"--hours", "0.1"}).error().message, testing::HasSubstr("--hours"));
  EXPECT_THAT(parse_options({"--bug", "none_such"}).error().message, testing::HasSubstr("--bug"));
  EXPECT_THAT(parse_options({"--sneeds", "3"}).error().message, testing::HasSubstr("--sneeds"));
  EXPECT_EQ(parse_options({"--seeds", "3", "--bug", "no_reconcile"})->bug,
            PlantedBug::kNoReconcile);
}

}  // namespace
}  // namespace recourse::sim
