#include "base/rng.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

namespace recourse {
namespace {

TEST(Rng, TheSequenceOfASeedIsFixedForEver) {
  Rng rng(42);

  // Part of the contract: a simulation seed written down today must replay tomorrow.
  EXPECT_EQ(rng.between(1, 1'000'000), 120'407U);
  EXPECT_EQ(rng.between(1, 1'000'000), 494'825U);
}

TEST(Rng, EveryValueOfASmallRangeComesUpAboutEquallyOften) {
  Rng rng(7);
  std::array<int, 6> seen{};

  for (int i = 0; i < 60'000; ++i) ++seen[rng.between(0, 5)];

  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
}

RC_GTEST_PROP(Rng, StaysWithinItsRange, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto a = *rc::gen::arbitrary<std::int64_t>();
  const auto b = *rc::gen::arbitrary<std::int64_t>();
  const Duration low(std::min(a, b));
  const Duration high(std::max(a, b));

  const Duration drawn = rng.between(low, high);

  RC_ASSERT(drawn >= low);
  RC_ASSERT(drawn <= high);
}

TEST(Rng, TheWidestRangesWork) {
  Rng rng(1);

  EXPECT_EQ(rng.between(5, 5), 5U);
  EXPECT_NE(rng.between(0, std::numeric_limits<std::uint64_t>::max()),
            rng.between(0, std::numeric_limits<std::uint64_t>::max()));
  EXPECT_LE(rng.between(Duration::min(), Duration::max()), Duration::max());
}

RC_GTEST_PROP(Rng, AFractionIsAtLeastZeroAndBelowOne, (std::uint64_t seed)) {
  Rng rng(seed);

  const double fraction = rng.fraction();

  RC_ASSERT(fraction >= 0.0);
  RC_ASSERT(fraction < 1.0);
}

TEST(Rng, APowerOfTwoOfChoicesDiscardsNoDraw) {
  Rng raw(42);
  Rng rng(42);

  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rng.between(0, (1ULL << 63) - 1), raw.next() % (1ULL << 63));
  }
}

TEST(Rng, AWideRangeIsAsEvenAsASmallOne) {
  Rng rng(7);
  const std::uint64_t third = 1ULL << 62;
  std::array<int, 3> seen{};

  for (int i = 0; i < 30'000; ++i) ++seen[rng.between(0, 3 * third - 1) / third];

  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Rng, FractionsReachFromZeroToOne) {
  Rng rng(7);
  double lowest = 1;
  double highest = 0;

  for (int i = 0; i < 1'000; ++i) {
    const double fraction = rng.fraction();
    lowest = std::min(lowest, fraction);
    highest = std::max(highest, fraction);
  }

  EXPECT_LT(lowest, 0.01);
  EXPECT_GT(highest, 0.99);
}

}  // namespace
}  // namespace recourse
