// The sources' own blocks, letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSourcesBlock = R"(
retry:
  stick:
    enable: true
    lease-ttl: 30s
    renew-ahead: 10s
  tx:
    propagation: REQUIRED
    read-only: false
    isolation: DEFAULT
    timeout-seconds: 10
  wheel:
   tick-duration: 100ms
   ticks-per-wheel: 512
   max-pending-timeouts: 100000
  scan:
   initial-delay: 1000
   period: 2000
   batch: 200
  executor:
   core-pool-size: 8
   max-pool-size: 32
   queue-capacity: 1000
   keep-alive: 60s
   rejected-handler: CALLER_RUNS
  backoff:
   strategy: exponential
   base: 1s
   min: 500ms
   max: 300s
   jitter-ratio: 0.2
  default-max-retry: 5
  default-execute-timeout: 10s
  notify:
    enabled: true
    async:
      core-pool-size: 2
      max-pool-size: 4
      queue-capacity: 2000
      keep-alive: 30s
    rate-limit:
      window: 30s
      threshold: 50
abnormal:
  retry:
    scan-interval-seconds: 60
    mail-from: "xxx@xxx.com"
    mail-to:
      - "ops@xxx.com"
)";

TEST(RetryBlock, TheSourcesFileIsTakenAsItStands) {
  const Loaded loaded = load_text(kSourcesBlock);

  ASSERT_TRUE(loaded.config) << texts_of(loaded).front();
  EXPECT_THAT(texts_of(loaded),
              ElementsAre(HasSubstr("warning: abnormal.retry is not used: no table is guarded")));
}

TEST(RetryBlock, ATransactionSettingThatNoStoreFollowsIsSaidToBeIgnored) {
  const Loaded loaded = load_text("retry: {tx: {isolation: SERIALIZABLE}}");

  ASSERT_TRUE(loaded.config);
  EXPECT_THAT(texts_of(loaded),
              ElementsAre(HasSubstr("warning: retry.tx.isolation is accepted and not used")));
}

TEST(RetryBlock, ItsValuesAreTheDefaults) {
  const engine::NodeSettings given = config_of(kSourcesBlock).node;
  const engine::NodeSettings none = config_of("").node;

  EXPECT_EQ(given.lease.ttl, none.lease.ttl);
  EXPECT_EQ(given.lease.renew_ahead, none.lease.renew_ahead);
  EXPECT_EQ(given.scan.initial_delay, none.scan.initial_delay);
  EXPECT_EQ(given.scan.period, none.scan.period);
  EXPECT_EQ(given.batch.initial, none.batch.initial);
  EXPECT_EQ(given.wheel.tick, none.wheel.tick);
  EXPECT_EQ(given.wheel.slots, none.wheel.slots);
  EXPECT_EQ(given.wheel.max_pending, none.wheel.max_pending);
  EXPECT_EQ(given.executor.core_threads, none.executor.core_threads);
  EXPECT_EQ(given.executor.max_threads, none.executor.max_threads);
  EXPECT_EQ(given.executor.queue, none.executor.queue);
  EXPECT_EQ(given.executor.keep_alive, none.executor.keep_alive);
  EXPECT_EQ(given.store_timeout, none.store_timeout);
}

TEST(RetryBlock, EachKeyReachesItsSetting) {
  const Config config = config_of(R"(
retry:
  stick: {enable: false, lease-ttl: 20s, renew-ahead: 5s, up-to: 5s}
  tx: {timeout-seconds: 4}
  wheel: {tick-duration: 10ms, ticks-per-wheel: 64, max-pending-timeouts: 500}
  scan: {initial-delay: 250, period: 750, batch: 300, batch-min: 10, batch-max: 900}
  executor: {core-pool-size: 2, max-pool-size: 3, queue-capacity: 4, keep-alive: 5s, rejected-handler: HAND_BACK}
  backoff: {strategy: linear, base: 2s, min: 1s, max: 60s, jitter: full, jitter-ratio: 0.5}
  default-max-retry: 7
  default-execute-timeout: 3s
)");

  EXPECT_FALSE(config.node.sticky.enable);
  EXPECT_EQ(config.node.lease.ttl, 20s);
  EXPECT_EQ(config.node.lease.renew_ahead, 5s);
  EXPECT_EQ(config.node.sticky.up_to, 5s);
  EXPECT_EQ(config.node.store_timeout, 4s);
  EXPECT_EQ(config.node.wheel.tick, 10ms);
  EXPECT_EQ(config.node.wheel.slots, 64U);
  EXPECT_EQ(config.node.wheel.max_pending, 500U);
  EXPECT_EQ(config.node.scan.initial_delay, 250ms);
  EXPECT_EQ(config.node.scan.period, 750ms);
  EXPECT_EQ(config.node.batch.initial, 300);
  EXPECT_EQ(config.node.batch.min, 10);
  EXPECT_EQ(config.node.batch.max, 900);
  EXPECT_EQ(config.node.executor.core_threads, 2);
  EXPECT_EQ(config.node.executor.max_threads, 3);
  EXPECT_EQ(config.node.executor.queue, 4);
  EXPECT_EQ(config.node.executor.keep_alive, 5s);
  EXPECT_EQ(config.node.executor.rejection, engine::Rejection::kHandBack);
  EXPECT_EQ(config.defaults.settings.backoff.strategy, "linear");
  EXPECT_EQ(config.defaults.settings.backoff.base, 2s);
  EXPECT_EQ(config.defaults.settings.backoff.min, 1s);
  EXPECT_EQ(config.defaults.settings.backoff.max, 60s);
  EXPECT_EQ(config.defaults.settings.backoff.jitter, policy::Jitter::kFull);
  EXPECT_EQ(config.defaults.settings.backoff.jitter_ratio, 0.5);
  EXPECT_EQ(config.defaults.max_retries, 7);
  EXPECT_EQ(config.defaults.timeout, 3s);
}

TEST(RetryBlock, BareNumbersAreForTheKeysThatHaveAUnit) {
  EXPECT_EQ(config_of("retry: {scan: {period: 2s}}").node.scan.period, 2s);
  EXPECT_EQ(config_of("retry: {tx: {timeout-seconds: 1500ms}}").node.store_timeout, 1500ms);
  EXPECT_THAT(
      problems_of("retry: {stick: {lease-ttl: 30}}"),
      ElementsAre("recourse.yaml:1:28: error: retry.stick.lease-ttl must be a duration such "
                  "as 500ms, 30s or 1h30m, 30ms to 1h, not \"30\"; for example lease-ttl: "
                  "30s"));
}

TEST(RetryBlock, WordsMayBeInCapitalsOrNot) {
  for (const char* word : {"CALLER_RUNS", "caller_runs", "caller-runs"}) {
    EXPECT_THAT(problems_of(std::string("retry: {executor: {rejected-handler: ") + word + "}}"),
                IsEmpty());
  }
  EXPECT_THAT(
      problems_of("retry: {executor: {rejected-handler: ABORT}}"),
      ElementsAre(HasSubstr("must be one of CALLER_RUNS, HAND_BACK, REFUSE, not \"ABORT\"")));
}

TEST(RetryBlock, WhatFollowsFromOneNumberNeedNotBeSaid) {
  EXPECT_EQ(config_of("retry: {wheel: {max-pending-timeouts: 10}}").node.hold.tasks, 10U);
  EXPECT_EQ(config_of("retry: {scan: {batch: 20}}").node.batch.min, 20);
  EXPECT_EQ(config_of("retry: {scan: {batch: 5000}}").node.batch.max, 5'000);
  EXPECT_EQ(config_of("retry: {executor: {core-pool-size: 64}}").node.executor.max_threads, 64);
  EXPECT_EQ(config_of("retry: {stick: {lease-ttl: 6s}}").node.lease.renew_ahead, 2s);
}

TEST(RetryBlock, WhatContradictsItselfIsRefused) {
  EXPECT_THAT(problems_of("retry: {executor: {core-pool-size: 9, max-pool-size: 8}}"),
              ElementsAre(HasSubstr("core-pool-size (9) must not be more than max-pool-size (8)")));
  EXPECT_THAT(problems_of("retry: {stick: {lease-ttl: 10s, renew-ahead: 10s}}"),
              ElementsAre(HasSubstr("at most nine tenths of lease-ttl (10s)")));
  EXPECT_THAT(problems_of("retry: {scan: {batch: 20, batch-min: 30}}"),
              ElementsAre(HasSubstr("batch-min (30) <= batch (20)")));
  EXPECT_THAT(problems_of("retry: {backoff: {min: 10s, max: 5s}}"),
              ElementsAre(HasSubstr("retry.backoff.min (10s) must not be more than max (5s)")));
  EXPECT_THAT(problems_of("node: {hold-tasks: 11}\nretry: {wheel: {max-pending-timeouts: 10}}"),
              ElementsAre(HasSubstr("recourse.yaml:1:20: error: node.hold-tasks (11)")));
}

}  // namespace
}  // namespace recourse::app
