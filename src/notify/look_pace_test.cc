#include "notify/look_pace.h"

#include <gtest/gtest.h>

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

TEST(LookPace, TwiceAsLongWithEveryFailureInARow) {
  LookPace pace;
  BootTime now{5h};
  EXPECT_EQ(pace.left(now), 0s);
  for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    pace.failed(now);
    EXPECT_EQ(pace.left(now), pause);
    now += pause - 1us;
    EXPECT_GT(pace.left(now), 0s);
    now += 1us;
    EXPECT_LE(pace.left(now), 0s);
  }
  pace.succeeded();
  EXPECT_EQ(pace.left(now), 0s);
  pace.failed(now);
  EXPECT_EQ(pace.left(now), 1s) << "from the beginning";
}

}  // namespace
}  // namespace recourse::notify
