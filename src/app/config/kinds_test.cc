// Kinds and schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kSigningKey = "0123456789abcdef";

TEST(KindConfig, AnHttpKindWithEverything) {
  const Config config = config_of(R"(
kinds:
  grant:
    type: http
    url: https://points.example.com/grant
    timeout: 4s
    max-retries: 8
    concurrency: 16
    rate: {per-second: 50, burst: 20}
    backoff: {strategy: fixed, base: 2s, min: 1s, max: 60s, jitter: none}
    breaker: {min-calls: 5, failure-ratio: 0.9, open-for: 10s}
    budget: {ratio: 0.5}
    signing: [env:NEW, env:OLD]
    probe-url: https://points.example.com/done
    headers: {X-Source: recourse}
    secret-headers: {Authorization: env:BEARER}
    retention: {succeeded: 1d, ignored: 90d}
)",
                                  {{"NEW", kSigningKey}, {"OLD", kSigningKey}, {"BEARER", "b"}});

  const KindConfig& kind = config.kinds.at("grant");
  EXPECT_EQ(kind.timeout, 4s);
  EXPECT_EQ(kind.max_retries, 8);
  EXPECT_EQ(kind.settings.concurrency, 16);
  EXPECT_EQ(kind.settings.rate->per_second, 50);
  EXPECT_EQ(kind.settings.rate->burst, 20);
  EXPECT_EQ(kind.settings.backoff.strategy, "fixed");
  EXPECT_EQ(kind.settings.backoff.jitter, policy::Jitter::kNone);
  EXPECT_EQ(kind.settings.breaker.min_calls, 5);
  EXPECT_TRUE(kind.settings.breaker_enabled);
  EXPECT_EQ(kind.settings.budget->ratio, 0.5);
  EXPECT_EQ(kind.settings.budget->per_second, 10);
  EXPECT_TRUE(kind.settings.has_probe);
  EXPECT_EQ(kind.http.signing.size(), 2U);
  EXPECT_THAT(kind.http.headers, ElementsAre(Pair("X-Source", "recourse")));
  EXPECT_EQ(kind.http.secret_headers.at("Authorization").reveal(), "b");
  EXPECT_EQ(
      store::expires_at(config.retention, task::Kind("grant"), task::State::kIgnored, TimePoint{}),
      TimePoint{} + 24h * 90);
  EXPECT_EQ(store::expires_at(config.retention, task::Kind("grant"), task::State::kCancelled,
                              TimePoint{}),
            TimePoint{} + 24h * 7);
}

TEST(KindConfig, StartsFromTheDefaultsWhereverTheyStand) {
  const Config config = config_of(R"(
kinds:
  plain: {url: "http://a/"}
  own: {url: "http://a/", concurrency: 2, breaker: {probes: 3}, rate: false}
defaults: {concurrency: 9, breaker: false, rate: {per-second: 5}}
retry: {default-max-retry: 3, default-execute-timeout: 2s, backoff: {strategy: linear}}
)");

  const KindConfig& plain = config.kinds.at("plain");
  EXPECT_EQ(plain.settings.concurrency, 9);
  EXPECT_FALSE(plain.settings.breaker_enabled);
  EXPECT_EQ(plain.settings.rate->per_second, 5);
  EXPECT_EQ(plain.max_retries, 3);
  EXPECT_EQ(plain.timeout, 2s);
  EXPECT_EQ(plain.settings.backoff.strategy, "linear");
  const KindConfig& own = config.kinds.at("own");
  EXPECT_EQ(own.settings.concurrency, 2);
  EXPECT_TRUE(own.settings.breaker_enabled) << "giving its keys switches it on";
  EXPECT_FALSE(own.settings.rate);
}

TEST(KindConfig, ExecAndWorker) {
  const Config config = config_of(R"(
kinds:
  report:
    type: exec
    command: [/usr/bin/report, --daily]
    environment: [PATH, HOME]
    working-directory: /srv
  outside: {type: worker, lease: 1m, lease-max: 2h}
)");

  const ExecKind& exec = config.kinds.at("report").exec;
  EXPECT_THAT(exec.command, ElementsAre("/usr/bin/report", "--daily"));
  EXPECT_THAT(exec.environment, ElementsAre("PATH", "HOME"));
  EXPECT_EQ(exec.working_directory, "/srv");
  EXPECT_EQ(config.kinds.at("outside").settings.lease.usual, 1min);
  EXPECT_EQ(config.kinds.at("outside").settings.lease.longest, 2h);
}

TEST(KindConfig, AProgramIsNotGivenWhatTheEngineSets) {
  for (const std::string name : {"RECOURSE_TASK", "RECOURSE_TOKEN", "TRACEPARENT"}) {
    EXPECT_THAT(
        problems_of("kinds: {a: {type: exec, command: [/bin/a], environment: [" + name + "]}}"),
        ElementsAre(AllOf(HasSubstr("kinds.a.environment"), HasSubstr(name),
                          HasSubstr("sets RECOURSE_... and TRACEPARENT itself"))));
  }
}

TEST(KindConfig, NeedsWhatItsTypeNeedsAndNothingOfOthers) {
  EXPECT_THAT(
      problems_of("kinds: {a: {}, b: {type: exec}, c: {type: worker}}"),
      ElementsAre(AllOf(HasSubstr("recourse.yaml:1:9"), HasSubstr("kinds.a.url is missing")),
                  HasSubstr("kinds.b.command is missing")));
  EXPECT_THAT(problems_of("kinds: {a: {type: worker, url: 'http://a/'}}"),
              ElementsAre(HasSubstr(
                  "kinds.a.url is for the type http, and this one's is worker: leave it out")));
}

TEST(KindConfig, OddNamesAndShapesAreRefused) {
  EXPECT_THAT(problems_of("kinds: {'a*b': {url: 'http://a/'}}"),
              ElementsAre(HasSubstr("only at its end")));
  EXPECT_THAT(problems_of("kinds: {'': {url: 'http://a/'}}"),
              ElementsAre(HasSubstr("1 to 100 bytes")));
  EXPECT_THAT(problems_of("kinds: [a]"),
              ElementsAre(HasSubstr("must be a map of kinds by name, not a list")));
  EXPECT_THAT(problems_of("kinds: {a: http}"), ElementsAre(HasSubstr("must be a map of keys")));
  EXPECT_THAT(problems_of("kinds: {'a*': {url: 'http://a/'}}"), IsEmpty());
  EXPECT_THAT(problems_of("kinds: {'a*': {url: 'http://a/', retention: 1d}}"),
              ElementsAre(HasSubstr("needs the whole name of a kind")));
  EXPECT_THAT(problems_of("kinds: {a: {url: 'http://a/', breaker: maybe}}"),
              ElementsAre(HasSubstr("kinds.a.breaker must be true or false, not \"maybe\"")));
}

TEST(KindConfig, ABreakerThatNeverOpensIsRefused) {
  EXPECT_THAT(
      problems_of("kinds: {a: {url: 'http://a/', breaker: {window-calls: 10}}}"),
      ElementsAre(HasSubstr("kinds.a.breaker.min-calls (20) must not be more than window-calls "
                            "(10)")));
}

TEST(KindConfig, OneRetentionForAllEnds) {
  const Config config = config_of("kinds: {a: {url: 'http://a/', retention: 2d}}");

  EXPECT_THAT(
      config.kinds.at("a").retention,
      UnorderedElementsAre(Pair(task::State::kSucceeded, 48h), Pair(task::State::kCancelled, 48h),
                           Pair(task::State::kResolved, 48h), Pair(task::State::kIgnored, 48h)));
}

TEST(ScheduleConfig, IsReadyForTheEngine) {
  const Config config = config_of(R"(
kinds: {report: {url: "http://a/", max-retries: 2, timeout: 1m}}
schedules:
  nightly:
    when: 30 4 * * mon-fri
    kind: report
    payload: '{"day": "last"}'
    tenant: acme
    priority: 7
    deadline: 6h
    catch-up: 2h
    headers: {X-Source: schedule}
  often: {when: every 5m, kind: elsewhere, max-retries: 1}
)");

  const engine::Schedule& nightly = config.schedules.at("nightly").schedule;
  EXPECT_EQ(nightly.name, "nightly");
  EXPECT_EQ(nightly.spec.payload, R"({"day": "last"})");
  EXPECT_EQ(nightly.spec.tenant.value, "acme");
  EXPECT_EQ(nightly.spec.priority, 7);
  EXPECT_EQ(nightly.spec.max_retries, 2) << "the kind's";
  EXPECT_EQ(nightly.spec.timeout, 1min);
  EXPECT_EQ(nightly.deadline_in, 6h);
  EXPECT_EQ(nightly.catch_up, 2h);
  EXPECT_EQ(nightly.when.next_after(TimePoint{}), TimePoint{} + 4h + 30min);
  EXPECT_EQ(config.schedules.at("often").schedule.spec.max_retries, 1);
}

TEST(ScheduleConfig, AKindThatNobodyDeclaredIsWarnedOf) {
  EXPECT_THAT(problems_of("schedules: {a: {when: '@daily', kind: k}}"),
              ElementsAre(HasSubstr("warning: schedules.a.kind: no kind \"k\" is declared")));
  EXPECT_THAT(problems_of("kinds: {'k*': {type: worker}}\n"
                          "schedules: {a: {when: '@daily', kind: k1}}"),
              IsEmpty());
}

TEST(ScheduleConfig, WhatTheEngineWouldRefuseIsRefused) {
  EXPECT_THAT(problems_of("schedules: {a: {when: sometimes, kind: k}}"),
              testing::Contains(
                  HasSubstr("recourse.yaml:1:23: error: schedules.a.when is not understood")));
  EXPECT_THAT(problems_of("schedules: {a: {kind: k}}"),
              ElementsAre(HasSubstr("schedules.a.when is missing")));
  EXPECT_THAT(problems_of("schedules: {a: {when: '@daily'}}"),
              ElementsAre(HasSubstr("schedules.a.kind is missing")));
  EXPECT_THAT(problems_of("schedules: {a: {when: '0 0 31 2 *', kind: k}}"),
              ElementsAre(HasSubstr("schedules.a cannot be scheduled")));
  EXPECT_THAT(problems_of("schedules: {a: {when: '@daily', kind: k, catch-up: 30d}}"),
              ElementsAre(HasSubstr("0s to 7d")));
}

}  // namespace
}  // namespace recourse::app
