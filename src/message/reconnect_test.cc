#include "message/reconnect.h"

#include <gtest/gtest.h>

namespace recourse::message {
namespace {

using namespace std::chrono_literals;

TEST(ReconnectPace, PausesDoubleUpToTheirMaximumAndBeginAgainAfterSuccess) {
  ReconnectPace pace(100ms, 1s, 7);
  const Deadline now{10s};
  EXPECT_LE(pace.next_try(), now);

  for (const Duration pause : {100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms}) {
    pace.failed(now);
    EXPECT_GE(pace.next_try(), now + pause / 2);
    EXPECT_LE(pace.next_try(), now + pause);
  }
  pace.succeeded();
  pace.failed(now);

  EXPECT_LE(pace.next_try(), now + 100ms);
}

}  // namespace
}  // namespace recourse::message
