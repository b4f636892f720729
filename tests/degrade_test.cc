// The degrade door through the public headers alone, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <memory>
#include <thread>

#include "tests/degrade_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_P(DegradeOnStore, WhatWorksReturnsItsValueAndLeavesNoRecord) {
  Degrade degrade = open(quick());

  const auto granted = grant(degrade, {.member = "m-1"});

  ASSERT_TRUE(granted);
  EXPECT_FALSE(granted->degraded);
  EXPECT_EQ(granted->value, true);
  EXPECT_EQ(points_.granted().count(granted->id), 1U);
  EXPECT_THAT(degrade.list().value().records, IsEmpty());
}

// DEGR-1: the caller goes on, the failure is on the record with its reason, and a retry makes it
// good, under the id that the action was given.
TEST_P(DegradeOnStore, AFailureIsRecordedAndMadeGood) {
  Degrade degrade = open(quick());
  points_.set_down(true);

  const auto granted = grant(degrade, {.member = "m-1", .related_id = "o-1", .type = "EARN_ORDER"});

  ASSERT_TRUE(granted);
  EXPECT_TRUE(granted->degraded);
  EXPECT_EQ(granted->value, std::nullopt);
  EXPECT_THAT(granted->reason, HasSubstr("points service is down"));
  EXPECT_EQ(degrade.find(granted->id).value().failure_reason, "points service is down");
  points_.set_down(false);
  ASSERT_TRUE(reaches(degrade, granted->id, "COMPLETED"));
  EXPECT_EQ(points_.granted(), (std::map<std::string, int>{{granted->id, 10}}));
}

// DEGR-2
TEST_P(DegradeOnStore, ARecordTellsEverythingThatWasGiven) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = open(options);
  const TimePoint before = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const TimePoint expiry = std::chrono::floor<std::chrono::seconds>(before) + 24h;

  const std::string id = degrade
                             .record_failure(kPoints, "100",
                                             {.member = "m-1",
                                              .related_id = "o-1",
                                              .type = "EARN_ORDER",
                                              .amount = 100,
                                              .remark = "消费获得",
                                              .expires_at = expiry,
                                              .tenant = "shop"},
                                             "connection refused")
                             .value();

  const FailureRecord record = degrade.find(id).value();
  EXPECT_EQ(record.kind, kPoints);
  EXPECT_EQ(record.status, "PENDING");
  EXPECT_EQ(record.state, "pending");
  EXPECT_EQ(record.member, "m-1");
  EXPECT_EQ(record.related_id, "o-1");
  EXPECT_EQ(record.type, "EARN_ORDER");
  EXPECT_EQ(record.tenant, "shop");
  EXPECT_EQ(record.amount, 100);
  EXPECT_EQ(record.remark, "消费获得");
  EXPECT_EQ(record.expires_at, expiry);
  EXPECT_EQ(record.failure_reason, "connection refused");
  EXPECT_EQ(record.last_error, "connection refused");
  EXPECT_GE(record.failed_at + 1ms, before);
  EXPECT_EQ(record.retries, 0);
  EXPECT_EQ(record.max_retries, 3);
  EXPECT_EQ(record.last_retry_at, std::nullopt);
  ASSERT_TRUE(record.next_retry_at);
  EXPECT_GE(*record.next_retry_at, before + 59min);
}

// DEGR-3: three runs of the handler, not four, and the reason says so.
TEST_P(DegradeOnStore, ThreeRetriesAndThenAPersonHasToLook) {
  Degrade degrade = open(quick());
  points_.set_down(true);
  const std::string id = grant(degrade, {.member = "m-1"})->id;

  ASSERT_TRUE(reaches(degrade, id, "FAILED"));

  const FailureRecord record = degrade.find(id).value();
  EXPECT_EQ(points_.calls(), 1 + 3);
  EXPECT_EQ(record.retries, 3);
  EXPECT_EQ(record.last_error, "gave up after 3 retries; last error: points service is down");
  EXPECT_TRUE(record.last_retry_at);
  EXPECT_EQ(record.failure_reason, "points service is down");
}

// DEGR-3: what is due by the clock goes through the same queue, never inline.
TEST_P(DegradeOnStore, WorkThatTheClockBringsIsARecordLikeAnyOther) {
  Degrade degrade = Degrade::on(engine_, quick()).value();
  std::atomic<int> expired = 0;
  degrade.handle_bytes("expire-points", [&](const Attempt&) {
    ++expired;
    return done();
  });
  engine_.schedule({.name = "expire", .when = "every 1s", .kind = "expire-points"});
  engine_.start().value();

  EXPECT_TRUE(eventually([&] { return expired > 0; }));

  EXPECT_TRUE(
      eventually([&] { return !degrade.list({.status = "COMPLETED"}).value().records.empty(); }));
  EXPECT_EQ(degrade.list().value().records.front().kind, "expire-points");
}

// DEGR-2, DEGR-4: by status, member, related id, type and time, together or alone, none given: all.
TEST_P(DegradeOnStore, RecordsAreFoundByEverythingPeopleKnow) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = open(options);
  const auto record = [&](const char* member, const char* order, const char* type) {
    return degrade
        .record_failure(kPoints, "1", {.member = member, .related_id = order, .type = type}, "down")
        .value();
  };
  const std::string one = record("m-1", "o-1", "EARN");
  const std::string two = record("m-1", "o-2", "EARN");
  std::this_thread::sleep_for(2ms);  // another millisecond than the two before
  const std::string three = record("m-2", "o-2", "SPEND");
  ASSERT_EQ(engine_.resolve(three, "alice").value(), "done");
  const auto found = [&](const FailureQuery& query) {
    std::vector<std::string> ids;
    const FailurePage page = degrade.list(query).value();
    for (const FailureRecord& each : page.records) ids.push_back(each.id);
    return ids;
  };
  const TimePoint third_at = degrade.find(three)->failed_at;

  EXPECT_THAT(found({}), ElementsAre(three, two, one));
  EXPECT_THAT(found({.status = "PENDING"}), ElementsAre(two, one));
  EXPECT_THAT(found({.status = "COMPLETED"}), ElementsAre(three));
  EXPECT_THAT(found({.status = "FAILED"}), IsEmpty());
  EXPECT_THAT(found({.member = "m-1"}), ElementsAre(two, one));
  EXPECT_THAT(found({.related_id = "o-2"}), ElementsAre(three, two));
  EXPECT_THAT(found({.member = "m-1", .related_id = "o-2"}), ElementsAre(two));
  EXPECT_THAT(found({.type = "SPEND"}), ElementsAre(three));
  EXPECT_THAT(found({.member = "m-1", .type = "SPEND"}), IsEmpty());
  EXPECT_THAT(found({.from = third_at}), ElementsAre(three));
  EXPECT_THAT(found({.before = third_at}), ElementsAre(two, one));
  EXPECT_THAT(found({.status = "PENDING", .from = third_at}), IsEmpty());
}

TEST_P(DegradeOnStore, PagesFollowEachOther) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = open(options);
  std::vector<std::string> all;
  for (int i = 0; i < 7; ++i) {
    all.push_back(degrade.record_failure(kPoints, "1", {}, "down").value());
  }
  std::ranges::reverse(all);

  std::vector<std::string> paged;
  std::string after;
  do {
    const FailurePage page = degrade.list({}, 3, after).value();
    EXPECT_LE(page.records.size(), 3U);
    for (const FailureRecord& record : page.records) paged.push_back(record.id);
    after = page.next;
  } while (!after.empty());

  EXPECT_EQ(paged, all);
}

// DEGR-4: retried by hand; a completed one is refused.
TEST_P(DegradeOnStore, APersonRetriesOneButNotWhatIsCompleted) {
  Degrade degrade = open(quick());
  points_.set_down(true);
  const std::string id = grant(degrade, {})->id;
  ASSERT_TRUE(reaches(degrade, id, "FAILED"));
  points_.set_down(false);

  EXPECT_EQ(degrade.retry(id, "alice").value(), "done");
  ASSERT_TRUE(reaches(degrade, id, "COMPLETED"));
  const auto again = degrade.retry(id, "alice");

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(again.error().message, HasSubstr("COMPLETED"));
  EXPECT_EQ(degrade.find(id).value().retries, 1) << "those of this episode";
  EXPECT_EQ(points_.granted().size(), 1U);
}

TEST_P(DegradeOnStore, ARetryOfWhatWaitsDoesNotWaitAnyLonger) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = open(options);
  const std::string id = degrade.record_failure(kPoints, "5", {}, "down").value();

  EXPECT_EQ(degrade.retry(id, "alice").value(), "done");

  EXPECT_TRUE(reaches(degrade, id, "COMPLETED"));
}

// DEGR-4: many, with a bound and with progress.
TEST_P(DegradeOnStore, APersonRetriesManyUpToABound) {
  Degrade degrade = open(quick());
  points_.set_down(true);
  for (int i = 0; i < 5; ++i) (void)degrade.record_failure(kPoints, "1", {.member = "m"}, "down");
  const auto failed = [&] { return degrade.summary().value().failed; };
  ASSERT_TRUE(eventually([&] { return failed() == 5; }));
  points_.set_down(false);
  std::vector<std::size_t> told;
  const auto tell = [&](const RetriedMany& progress) {
    told.push_back(progress.retried);
    return true;
  };

  const RetriedMany first = degrade.retry_all({.member = "m"}, 2, "alice", tell).value();
  EXPECT_EQ(first.retried, 2U);
  EXPECT_TRUE(first.more);
  EXPECT_TRUE(eventually([&] { return degrade.summary().value().completed == 2; }));
  EXPECT_EQ(failed(), 3);
  const RetriedMany rest = degrade.retry_all({}, 100, "alice", tell).value();

  EXPECT_EQ(rest.retried, 3U);
  EXPECT_FALSE(rest.more);
  EXPECT_THAT(told, ElementsAre(2U, 3U));
  EXPECT_TRUE(eventually([&] { return degrade.summary().value().completed == 5; }));
}

// DEGR-4: by age, never what FAILED, and the log says how many.
TEST_P(DegradeOnStore, CompletedOnesAreCleanedUpAndNoOthers) {
  Degrade degrade = open(quick());
  points_.set_down(true);
  const std::string failed = grant(degrade, {})->id;
  ASSERT_TRUE(reaches(degrade, failed, "FAILED"));
  points_.set_down(false);
  const std::string completed = degrade.record_failure(kPoints, "1", {}, "down").value();
  ASSERT_TRUE(reaches(degrade, completed, "COMPLETED"));

  EXPECT_EQ(degrade.clean(1h, "alice").value(), 0U) << "it is too young";
  EXPECT_EQ(degrade.clean(0s, "alice").value(), 1U);

  EXPECT_EQ(degrade.find(completed).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(degrade.find(failed).value().status, "FAILED");
  EXPECT_EQ(log_.count("degrade_cleaned records=1"), 1);
}

// DEGR-4: by themselves too.
TEST_P(DegradeOnStore, AScheduleCleansUp) {
  DegradeOptions options = quick();
  EXPECT_EQ(DegradeOptions().clean_when, "0 0 * * sun");
  EXPECT_EQ(DegradeOptions().clean_after, 24h * 30);
  options.clean_when = "every 1s";
  options.clean_after = 1h;
  Degrade degrade = open(options);

  EXPECT_TRUE(eventually([&] { return log_.count("degrade_cleaned records=0 by=schedule") > 0; }));
}

// DEGR-5: counts, newest and most retried are one call away.
TEST_P(DegradeOnStore, ASummaryTellsHowItStands) {
  DegradeOptions options = quick();
  Degrade degrade = open(options);
  points_.set_down(true);
  const std::string failed = grant(degrade, {.member = "m-1"})->id;
  ASSERT_TRUE(reaches(degrade, failed, "FAILED"));
  points_.set_down(false);
  const std::string completed = degrade.record_failure(kPoints, "1", {}, "down").value();
  ASSERT_TRUE(reaches(degrade, completed, "COMPLETED"));

  const FailureSummary summary = degrade.summary().value();

  EXPECT_EQ(summary.pending, 0);
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(summary.failed, 1);
  ASSERT_EQ(summary.newest_failed.size(), 1U);
  EXPECT_EQ(summary.newest_failed.front().id, failed);
  EXPECT_TRUE(summary.saw_all_pending);
  EXPECT_EQ(summary.spooled_bytes, 0U);
}

TEST_P(DegradeOnStore, ASummaryNamesTheMostRetried) {
  Degrade degrade = Degrade::on(engine_, quick()).value();
  KindOptions slow = quick_kind();
  slow.backoff_base = slow.backoff_max = 1h;
  degrade.handle_bytes(
      kPoints, [](const Attempt&) { return retry("still down"); }, slow);
  engine_.start().value();
  const std::string once = degrade.record_failure(kPoints, "1", {}, "down").value();
  const std::string twice = degrade.record_failure(kPoints, "1", {}, "down").value();
  const auto retries = [&](const std::string& id) { return degrade.find(id).value().retries; };
  ASSERT_TRUE(eventually([&] { return retries(once) == 1 && retries(twice) == 1; }));
  ASSERT_TRUE(degrade.retry(twice, "alice"));
  ASSERT_TRUE(eventually([&] { return retries(twice) == 2; }));

  const FailureSummary summary = degrade.summary().value();

  ASSERT_EQ(summary.most_retried.size(), 2U);
  EXPECT_EQ(summary.most_retried[0].id, twice);
  EXPECT_EQ(summary.most_retried[0].retries, 2);
  EXPECT_TRUE(summary.most_retried[0].last_retry_at);
  EXPECT_EQ(summary.most_retried[1].id, once);
  EXPECT_EQ(summary.most_retried[1].last_error, "still down");
}

// DEGR-6
TEST_P(DegradeOnStore, EveryStepHasItsLogLine) {
  Degrade degrade = open(quick());
  points_.set_down(true);
  const std::string bad = grant(degrade, {.member = "m-1", .related_id = "o-1"})->id;
  ASSERT_TRUE(reaches(degrade, bad, "FAILED"));
  points_.set_down(false);
  const std::string good = degrade.record_failure(kPoints, "1", {}, "down").value();
  ASSERT_TRUE(reaches(degrade, good, "COMPLETED"));
  EXPECT_TRUE(eventually([&] { return log_.count("degrade_retry_succeeded") == 1; }));

  EXPECT_EQ(log_.count("degrade_failed task=" + bad), 1);
  EXPECT_EQ(log_.count("degrade_retry_started task=" + bad), 3);
  EXPECT_EQ(log_.count("degrade_retry_failed task=" + bad), 2);
  EXPECT_EQ(log_.count("degrade_gave_up task=" + bad), 1);
  EXPECT_EQ(log_.count("degrade_retry_succeeded task=" + good), 1);
}

INSTANTIATE_TEST_SUITE_P(Stores, DegradeOnStore,
                         ::testing::Values("Memory", "Sqlite", "Postgres", "Mariadb"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace recourse::tests
