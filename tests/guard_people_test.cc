// Rows that wait for a person: who is told, how often, and how they end.
#include "tests/guard_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Pair;

class GuardPeople : public GuardOnStore {
 protected:
  void tell(const std::shared_ptr<NoticeChannel>& channel) {
    engine_.notify({.channels = {channel}});
  }
  static GuardOptions hopeless(GuardOptions options) {
    options.max_retries = 0;
    return options;
  }
  bool told(int times) {
    return eventually([&] { return inbox_->notices().size() >= static_cast<std::size_t>(times); });
  }

  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
};
INSTANTIATE_TEST_SUITE_P(Stores, GuardPeople, kGuardStores, guard_store_name);

// GUARD-10, GUARD-12: told at once, then after one interval, then after two.
TEST_P(GuardPeople, APersonIsToldOfARowAtOnceAndRemindedLaterAndLater) {
  tell(inbox_);
  auto bills = begin(hopeless(quick()));
  start();

  fails(*bills);

  ASSERT_TRUE(told(1)) << log_.all();
  reminder_comes(1);
  ASSERT_TRUE(told(2)) << log_.all();
  reminder_comes(2);
  ASSERT_TRUE(told(3)) << log_.all();
  const std::vector<Notice> notices = inbox_->notices();
  EXPECT_EQ(notices[0].kind, "guard.user_bill");
  EXPECT_EQ(notices[0].event, "max_retry_reached");
  EXPECT_THAT(notices[0].attributes, Contains(Pair("table", "user_bill")));
  EXPECT_THAT(notices[0].attributes, Contains(Pair("row", "1")));
  EXPECT_THAT(notices[0].attributes, Contains(Pair("service", "异常处理示例")));
  EXPECT_EQ(notices[0].error, "handle_exception answered false");
  EXPECT_EQ(notices[0].reminder, 0);
  EXPECT_EQ(notices[1].reminder, 1);
  EXPECT_EQ(notices[2].reminder, 2);
  EXPECT_NE(notices[0].id, notices[1].id);
  EXPECT_TRUE(eventually([&] { return number("err_manual_notify_count") >= 3; }));
  EXPECT_EQ(number("err_submit_manual_status"), 2000);
}

// GUARD-12: not sent is written as such, and told again under the same id.
TEST_P(GuardPeople, AReminderThatReachesNobodyIsWrittenAsSuchAndComesAgain) {
  inbox_->set_down(true);
  tell(inbox_);
  auto bills = begin(hopeless(quick()));
  start();
  fails(*bills);
  ASSERT_TRUE(eventually([&] { return number("COALESCE(err_submit_manual_status, 0)") == 4000; }))
      << log_.all();
  EXPECT_EQ(number("COALESCE(err_manual_notify_count, 0)"), 0);
  EXPECT_NE(bills->explain(1).value().row.next_reminder, std::nullopt);

  inbox_->set_down(false);
  reminder_comes(0);

  ASSERT_TRUE(told(1)) << log_.all();
  EXPECT_EQ(inbox_->notices()[0].reminder, 0);
  EXPECT_TRUE(eventually([&] { return number("err_submit_manual_status") == 2000; }));
}

// GUARD-12: as through quiet hours; a stop lets go of what waits.
TEST_P(GuardPeople, ANoticeThatIsHeldBackIsNotWrittenAsFailed) {
  std::atomic<int> asked = 0;
  engine_.notify({.channels = {inbox_}, .filters = {[&](const Notice&) {
                                          ++asked;
                                          return NoticeVerdict::hold_back(1h, "people sleep");
                                        }}});
  auto bills = begin(hopeless(quick()));
  start();
  fails(*bills);
  ASSERT_TRUE(eventually([&] { return asked >= 1; })) << log_.all();

  engine_.stop(10s);

  EXPECT_EQ(number("err_status"), 4001);
  EXPECT_EQ(number("COALESCE(err_submit_manual_status, 0)"), 0);
  EXPECT_EQ(number("COALESCE(err_manual_notify_count, 0)"), 0);
}

TEST_P(GuardPeople, ANoticeThatNobodyWantsCountsAsToldAndIsNoFailure) {
  engine_.notify({.channels = {inbox_},
                  .filters = {[](const Notice&) { return NoticeVerdict::drop("not of these"); }}});
  auto bills = begin(hopeless(quick()));
  start();
  fails(*bills);

  EXPECT_TRUE(eventually([&] { return number("COALESCE(err_manual_notify_count, 0)") >= 1; }))
      << log_.all();
  EXPECT_EQ(number("err_submit_manual_status"), 2000);
}

TEST_P(GuardPeople, WithoutChannelsTheLogIsToldAndThatCounts) {
  auto bills = begin(hopeless(quick()));
  start();

  fails(*bills);

  EXPECT_TRUE(eventually([&] { return number("COALESCE(err_manual_notify_count, 0)") >= 1; }))
      << log_.all();
  EXPECT_EQ(number("err_submit_manual_status"), 2000);
  EXPECT_TRUE(eventually([&] { return log_.count("guard_row_waits_for_person") >= 1; }));
}

// GUARD-11
TEST_P(GuardPeople, ARowPastItsWindowIsGivenToAPerson) {
  tell(inbox_);
  auto bills = begin(quick());
  start();

  bills->mark_abnormal(1).value();
  comes("err_start_time", "err_status = 4000");

  ASSERT_TRUE(reaches(4001)) << log_.all();
  ASSERT_TRUE(told(1));
  EXPECT_EQ(inbox_->notices()[0].event, "dead_letter");
  EXPECT_THAT(bills->calls(), IsEmpty());
}

// GUARD-13, GUARD-4: by default a person's success is processing_successful.
TEST_P(GuardPeople, APersonsSuccessIsWrittenInOneStepAndNobodyIsRemindedAnyMore) {
  tell(inbox_);
  auto bills = begin(hopeless(quick()));
  start();
  fails(*bills);
  ASSERT_TRUE(told(1));

  bills->manual_success(1).value();

  EXPECT_EQ(number("err_status"), 2002);
  EXPECT_EQ(number("err_submit_manual_status"), 4002);
  EXPECT_EQ(status(), "SUCCESS");
  const auto before = inbox_->notices().size();
  app_.execute("UPDATE user_bill SET err_next_remind_staff_time = '2020-01-01 00:00:00'");
  for (int i = 0; i < 3; ++i) bills->scan_now().value();
  EXPECT_EQ(inbox_->notices().size(), before);
  EXPECT_EQ(number("err_status"), 2002);
}

// GUARD-4
class OwnSuccess : public Bills {
 public:
  using Bills::Bills;
  Result<> manual_success(const RowId& id) override {
    booked = to_string(id);
    return processing_successful(id);
  }
  std::string booked;
};

TEST_P(GuardPeople, APersonsSuccessMayBeTheUsersOwnAndRoutesNameTheirGuards) {
  app_.execute(bill_table());
  app_.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL', 10)");
  auto guards = Guards::on(engine_).value();
  auto own = guards.add(std::make_shared<OwnSuccess>(quick()));
  GuardOptions other = quick();
  other.name = "silent";
  other.fail_value = "REFUSED";
  guards.add(std::make_shared<Bills>(other))->route = "";
  start();

  const auto routes = guards.routes();

  ASSERT_EQ(routes.size(), 1U) << "an empty route registers nothing";
  ASSERT_TRUE(routes.at("/api/admin/manual-bill-success")->manual_success(1));
  EXPECT_EQ(own->booked, "1");
  EXPECT_EQ(number("err_status"), 2002);
}

TEST_P(GuardPeople, WhatWaitsIsListedAndReported) {
  auto bills = begin(hopeless(quick()));
  app_.execute("INSERT INTO user_bill VALUES (2, 'u-1', 'FAIL', 10)");
  app_.execute("INSERT INTO user_bill VALUES (3, 'u-1', 'SUCCESS', 10)");
  start();
  fails(*bills);
  ASSERT_TRUE(reaches(4001)) << log_.all();

  const auto rows = bills->list({.err_statuses = {4001}}).value();
  const GuardReport report = bills->report().value();

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(rows[0], Contains(Pair("id", SqlValue(std::int64_t{1}))));
  EXPECT_THAT(rows[0], Contains(Pair("err_status", SqlValue(std::int64_t{4001}))));
  EXPECT_EQ(report.by_err_status.at(4001), 1);
  EXPECT_EQ(report.failed_unmarked, 1);
  EXPECT_NE(report.oldest_error, std::nullopt);
}

}  // namespace
}  // namespace recourse::tests
