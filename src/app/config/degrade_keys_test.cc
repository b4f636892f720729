// The degrade door's keys, and what it means for a kind to be one of its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

// DEGR-3, DEGR-4
TEST(DegradeKeys, DefaultsAreThoseOfTheSources) {
  const Config config = config_of("kinds: {points: {url: 'http://a/', degrade: true}}");

  EXPECT_EQ(config.degrade.first_retry_after, 1min);
  EXPECT_EQ(config.degrade.clean_when, "0 0 * * sun");
  EXPECT_EQ(config.degrade.clean_after, 24h * 30);
  const KindConfig& kind = config.kinds.at("points");
  EXPECT_EQ(kind.max_retries, 3);
  EXPECT_EQ(kind.settings.backoff.strategy, "exponential");
  EXPECT_EQ(kind.settings.backoff.base, 1min);
}

TEST(DegradeKeys, AKindsOwnWordStands) {
  const Config config = config_of(R"(
degrade: {first-retry-after: 10s, spool: {directory: /tmp/spool, limit: 8MiB}, clean: {when: '@daily', after: 7d}}
kinds:
  points: {url: 'http://a/', degrade: true, max-retries: 9, backoff: {base: 5s}, retention: {succeeded: 1d}}
)");

  EXPECT_EQ(config.degrade.first_retry_after, 10s);
  EXPECT_EQ(config.degrade.spool, "/tmp/spool");
  EXPECT_EQ(config.degrade.spool_bytes, std::size_t{8} << 20);
  EXPECT_EQ(config.degrade.clean_when, "@daily");
  EXPECT_EQ(config.degrade.clean_after, 24h * 7);
  const KindConfig& kind = config.kinds.at("points");
  EXPECT_EQ(kind.max_retries, 9);
  EXPECT_EQ(kind.settings.backoff.base, 5s);
  EXPECT_EQ(kind.settings.backoff.max, 1h);
  EXPECT_EQ(kind.retention.at(task::State::kSucceeded), 24h);
}

// Other kinds' finished tasks go after a week; these stay for the clean-up.
TEST(DegradeKeys, CompletedRecordsOutliveTheUsualRetention) {
  const Config config = config_of("kinds: {points: {url: 'http://a/', degrade: true}}");

  EXPECT_GT(store::expires_at(config.retention, task::Kind("points"), task::State::kSucceeded,
                              TimePoint{}),
            TimePoint{} + 24h * 37);
}

TEST(DegradeKeys, WhatCannotBeIsRefused) {
  EXPECT_THAT(problems_of("kinds: {'a*': {url: 'http://a/', degrade: true}}"),
              Contains(HasSubstr("whole name")));
  EXPECT_THAT(problems_of("kinds: {a: {url: 'http://a/', degrade: true, max-retries: 0}}"),
              Contains(HasSubstr("must be at least 1")));
  EXPECT_THAT(problems_of("degrade: {clean: {when: sometimes}}"),
              Contains(HasSubstr("degrade.clean.when")));
  EXPECT_TRUE(problems_of("degrade: {clean: {when: never}}").empty());
}

}  // namespace
}  // namespace recourse::app
