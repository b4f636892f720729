#include "guard/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const TimePoint kNow{std::chrono::sys_days(std::chrono::year(2026) / 2 / 5) + 12h};

// As the source's example has it.
GuardSettings bill() {
  return {.table = "user_bill",
          .status_field = "status",
          .success_value = "SUCCESS",
          .fail_value = "FAIL",
          .min_interval = 5s,
          .timeout_window = 180s,
          .max_retries = 2,
          .remind_every = 10s};
}

Row waiting() {
  return {.id = RowId(1),
          .business_status = "FAIL",
          .err_status = 4000,
          .start_time = kNow - 10s,
          .next_retry = kNow};
}

TEST(GuardRules, EachEndIsExplainedWithWhatToDo) {
  for (const auto& [err_status, words] :
       std::map<std::int32_t, const char*>{{2000, "nothing is known to be wrong"},
                                           {2001, "has healed"},
                                           {2002, "a person has ended it"},
                                           {4001, "guard success"},
                                           {7, "none of the guard's codes"}}) {
    EXPECT_THAT(std::string(explain_not_waiting(err_status)), HasSubstr(words));
  }
  EXPECT_EQ(explain_not_waiting(std::nullopt), explain_not_waiting(2000));
}

TEST(GuardRules, WithAMaximumOfTwoTheThirdFailureGoesToAPerson) {  // GUARD-10
  Row row = waiting();

  const AfterFailure first = after_failure(row, bill(), kNow);
  EXPECT_EQ(first.retries, 1);
  EXPECT_EQ(first.next_retry, kNow + 5s);
  row.retries = first.retries;
  const AfterFailure second = after_failure(row, bill(), kNow);
  EXPECT_EQ(second.retries, 2);
  EXPECT_EQ(second.next_retry, kNow + 10s);
  row.retries = second.retries;
  EXPECT_EQ(after_failure(row, bill(), kNow).next_retry, std::nullopt);
}

TEST(GuardRules, AWindowThatIsOverEndsTheRetriesWhateverTheirNumber) {  // GUARD-10
  Row row = waiting();
  row.start_time = kNow - 180s;
  EXPECT_EQ(after_failure(row, bill(), kNow).next_retry, std::nullopt);
  EXPECT_TRUE(is_past_window(row, bill(), kNow));
  row.start_time = kNow - 179s;
  EXPECT_TRUE(after_failure(row, bill(), kNow).next_retry);
  EXPECT_FALSE(is_past_window(row, bill(), kNow));
}

// GUARD-11: in the source a scan's retries are over before it looks for time-outs.
TEST(GuardRules, PastItsWindowARowThatIsDueOrRunsIsLeftToItsRun) {
  const Duration hold = hold_of(bill());
  EXPECT_EQ(hold, bill().attempt_timeout + 2s);
  const auto gives_up = [](std::optional<TimePoint> next, Duration since_window) {
    Row row = waiting();
    row.start_time = kNow - 180s - since_window;
    row.next_retry = next;
    return is_given_up(row, bill(), kNow);
  };
  EXPECT_TRUE(gives_up(kNow + hold + 1s, 0s)) << "its retry would come too late";
  EXPECT_FALSE(gives_up(kNow + hold + 1s, -1s)) << "its window is not over";
  const std::optional<TimePoint> never;
  for (const std::optional<TimePoint>& next :
       {never, std::optional(kNow - 1h), std::optional(kNow), std::optional(kNow + hold)}) {
    EXPECT_FALSE(gives_up(next, 0s));
    EXPECT_FALSE(gives_up(next, 2 * hold - 1s));
    EXPECT_TRUE(gives_up(next, 2 * hold)) << "nobody has run it, or its run hangs";
  }
}

RC_GTEST_PROP(GuardRules, NoClaimIsGivenUpBeforeItHasEnded, ()) {
  GuardSettings settings = bill();
  settings.attempt_timeout = std::chrono::milliseconds(*rc::gen::inRange(1, 100'000));
  const TimePoint claimed_at = kNow + Duration(*rc::gen::inRange<std::int64_t>(0, 10'000'000));
  Row row = waiting();
  // Its last one begins before its window ends, or as long after it as a scan takes to come to it.
  row.start_time = claimed_at - settings.timeout_window -
                   Duration(*rc::gen::inRange<std::int64_t>(
                       -1'000'000'000, hold_of(settings).count() - Duration(1s).count()));
  row.next_retry = whole_seconds_up(claimed_at + hold_of(settings));
  const TimePoint now =
      claimed_at + Duration(*rc::gen::inRange<std::int64_t>(0, hold_of(settings).count()));

  RC_ASSERT(!is_given_up(row, settings, now));
  RC_ASSERT(standing_of(row, settings, now) == Standing::kLater);
}

RC_GTEST_PROP(GuardRules, EveryRowIsGivenUpInTheEndAndNoneWithinItsWindow, ()) {
  Row row = waiting();
  row.start_time = kNow;
  row.next_retry = kNow + std::chrono::seconds(*rc::gen::inRange(-1'000, 1'000));
  const auto since = std::chrono::seconds(*rc::gen::inRange(0, 1'000));

  const bool given_up = is_given_up(row, bill(), kNow + since);

  if (since < window_of(row, bill())) RC_ASSERT(!given_up);
  if (since >= window_of(row, bill()) + grace_of(bill())) RC_ASSERT(given_up);
}

TEST(GuardRules, TheRowsOwnIntervalAndWindowWinOverTheGuards) {  // Settled
  Row row = waiting();
  row.min_interval = 60s;
  EXPECT_EQ(after_failure(row, bill(), kNow).next_retry, kNow + 60s);
  row.timeout = 10s;
  EXPECT_EQ(after_failure(row, bill(), kNow).next_retry, std::nullopt);
  row.timeout = 11s;
  EXPECT_TRUE(after_failure(row, bill(), kNow).next_retry);
}

TEST(GuardRules, ARowStandsWhereItsColumnsSay) {  // GUARD-8
  const auto with = [](const std::function<void(Row&)>& change) {
    Row row = waiting();
    change(row);
    return standing_of(row, bill(), kNow);
  };
  EXPECT_EQ(with([](Row&) {}), Standing::kDue);
  EXPECT_EQ(with([](Row& row) { row.next_retry.reset(); }), Standing::kDue);
  EXPECT_EQ(with([](Row& row) { row.next_retry = kNow + 1s; }), Standing::kLater);
  EXPECT_EQ(with([](Row& row) { row.err_status.reset(); }), Standing::kNotWaiting);
  for (const std::int32_t status : {2000, 2001, 2002, 4001, 1234})
    EXPECT_EQ(with([&](Row& row) { row.err_status = status; }), Standing::kNotWaiting) << status;
  EXPECT_EQ(with([](Row& row) { row.business_status = "SUCCESS"; }), Standing::kAlreadySuccess);
  EXPECT_EQ(with([](Row& row) { row.business_status = "NEW"; }), Standing::kOtherStatus);
  EXPECT_EQ(with([](Row& row) { row.business_status.reset(); }), Standing::kOtherStatus);
  EXPECT_EQ(with([](Row& row) { row.start_time = kNow - 1h; }), Standing::kDue);
  EXPECT_EQ(with([](Row& row) {
              row.start_time = kNow - 1h;
              row.next_retry = kNow + 1s;
            }),
            Standing::kPastWindow);
}

TEST(GuardRules, RemindersComeFartherAndFartherApart) {  // GUARD-12
  Row row = waiting();
  EXPECT_EQ(next_reminder(row, bill(), kNow), kNow + 10s);
  row.notify_count = 1;
  EXPECT_EQ(next_reminder(row, bill(), kNow), kNow + 20s);
  row.notify_count = 9;
  EXPECT_EQ(next_reminder(row, bill(), kNow), kNow + 100s);
}

RC_GTEST_PROP(GuardRules, ARetryIsNeverEarlyAndAlwaysAWholeSecond, ()) {
  GuardSettings settings = bill();
  settings.max_retries = *rc::gen::inRange(0, 1'000);
  settings.min_interval = std::chrono::seconds(*rc::gen::inRange(1, 100'000));
  settings.timeout_window = std::chrono::seconds(*rc::gen::inRange(1, 1'000'000));
  const TimePoint now = kNow + Duration(*rc::gen::inRange<std::int64_t>(0, 10'000'000'000));
  Row row = waiting();
  row.retries = *rc::gen::inRange(-5, 1'100);
  row.start_time = now - std::chrono::seconds(*rc::gen::inRange(0, 1'000'000));
  if (*rc::gen::arbitrary<bool>())
    row.min_interval = std::chrono::seconds(*rc::gen::arbitrary<int>());

  const AfterFailure after = after_failure(row, settings, now);

  if (!after.next_retry) {
    RC_ASSERT(std::max(row.retries, 0) >= settings.max_retries ||
              is_past_window(row, settings, now));
    return;
  }
  const Duration interval = row.min_interval.value_or(settings.min_interval);
  RC_ASSERT(after.retries == std::max(row.retries, 0) + 1);
  RC_ASSERT(*after.next_retry > now);
  RC_ASSERT(*after.next_retry >= now + std::min(interval * after.retries, kLongestWait));
  RC_ASSERT(*after.next_retry == whole_seconds_up(*after.next_retry));
}

RC_GTEST_PROP(GuardRules, WhateverARowSaysItIsDueOnlyInOneState, ()) {
  Row row = waiting();
  row.err_status = *rc::gen::element<std::int32_t>(2000, 2001, 2002, 4000, 4001, 7);
  row.business_status = *rc::gen::element<std::string>("FAIL", "SUCCESS", "NEW", "");
  const auto ahead = std::chrono::seconds(*rc::gen::inRange(-100, 100));
  row.next_retry = kNow + ahead;

  const bool is_due = standing_of(row, bill(), kNow) == Standing::kDue;

  RC_ASSERT(is_due == (row.err_status == 4000 && row.business_status == "FAIL" && ahead <= 0s));
}

TEST(GuardSettings, BadOnesAreRefusedByFieldAllAtOnce) {  // GUARD-1
  EXPECT_TRUE(validate(bill()));
  GuardSettings bad = bill();
  bad.table = "user bill";
  bad.id_field = "1d";
  bad.status_field = "";
  bad.user_field = "a;b";
  bad.fail_value = "SUCCESS";
  bad.min_interval = 100ms;
  bad.max_retries = -1;
  bad.manual_success_route = "api";

  const std::string message = validate(bad).error().message;

  for (const char* field : {"table", "id_field", "status_field", "user_field", "fail_value",
                            "min_interval", "max_retries", "manual_success_route"})
    EXPECT_THAT(message, HasSubstr(std::string("guard.") + field));
}

// A user is written into its column when a row is marked.
TEST(GuardSettings, TheUsersColumnIsNeitherTheIdNorTheStatus) {  // GUARD-1, GUARD-5
  for (const std::string& column : {bill().id_field, bill().status_field}) {
    GuardSettings bad = bill();
    bad.user_field = column;
    EXPECT_THAT(validate(bad).error().message, HasSubstr("guard.user_field")) << column;
  }
}

TEST(GuardSettings, OnlyGuardsOfOneStatusShareATable) {
  GuardSettings other = bill();
  EXPECT_FALSE(may_share_table(bill(), other)) << "both would run the same rows";
  other.fail_value = "REFUSED";
  EXPECT_TRUE(may_share_table(bill(), other));
  other.status_field = "ship_status";
  EXPECT_FALSE(may_share_table(bill(), other));
}

TEST(GuardSettings, NamesAreLettersDigitsAndUnderscores) {
  for (const char* good : {"a", "_", "User_bill9", "select"})
    EXPECT_TRUE(is_identifier(good)) << good;
  for (const char* bad : {"", "9a", "a-b", "a.b", "a b", "a\"", "a`", "ü", "a\n"})
    EXPECT_FALSE(is_identifier(bad)) << bad;
  EXPECT_TRUE(is_identifier(std::string(63, 'a')));
  EXPECT_FALSE(is_identifier(std::string(64, 'a')));
  EXPECT_FALSE(is_identifier(std::string_view("a\0b", 3)));
  GuardSettings own = bill();
  own.status_field = "Err_Status";
  EXPECT_FALSE(validate(own));
}

}  // namespace
}  // namespace recourse::guard
