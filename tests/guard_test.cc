// Rows of a business table that heal themselves, through the library, on every database.
#include <stdexcept>
#include <type_traits>

#include "tests/guard_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GuardLibrary : public GuardOnStore {};
INSTANTIATE_TEST_SUITE_P(Stores, GuardLibrary, kGuardStores, guard_store_name);

// GUARD-4: who leaves out the route, or any of the three, has a class that cannot be made.
class NoRoute : public Guard {
 public:
  NoRoute() : Guard({}) {}
  bool check_status(const RowId&) override { return false; }
  bool handle_exception(const RowId&) override { return false; }
};
class NoHandler : public Guard {
 public:
  NoHandler() : Guard({}) {}
  bool check_status(const RowId&) override { return false; }
  [[nodiscard]] std::string manual_success_route() const override { return ""; }
};
static_assert(std::is_abstract_v<NoRoute>);
static_assert(std::is_abstract_v<NoHandler>);
static_assert(!std::is_abstract_v<Bills>);

// GUARD-5, GUARD-8, GUARD-9
TEST_P(GuardLibrary, AFailedRowIsMarkedRetriedAndWrittenBack) {
  auto bills = begin(quick());
  std::atomic<bool> paid = false;
  bills->on_check = [&](const RowId&) { return paid.load(); };
  bills->on_handle = [&](const RowId&) { return paid = true; };
  start();

  const auto marked = bills->mark_abnormal(1, "u-2");
  retry_comes(0);

  ASSERT_TRUE(marked) << marked.error().message;
  EXPECT_EQ(*marked, 4000);
  EXPECT_EQ(app_.text("SELECT user_id FROM user_bill"), "u-2");
  ASSERT_TRUE(reaches(2001)) << log_.all();
  EXPECT_EQ(status(), "SUCCESS");
  EXPECT_THAT(bills->calls(), ElementsAre("check 1", "handle 1", "check 1"));
  EXPECT_TRUE(counts(*bills, &GuardFigures::healed, 1));
}

// GUARD-9: success of the first check ends it.
TEST_P(GuardLibrary, WhatHasSucceededByItselfIsNotHandled) {
  auto bills = begin(quick());
  bills->on_check = [](const RowId&) { return true; };
  start();

  fails(*bills);

  ASSERT_TRUE(reaches(2001)) << log_.all();
  EXPECT_THAT(bills->calls(), ElementsAre("check 1"));
}

// A user's rows in trouble keep them from going on: one that is well does not wait for the next
// scan.
TEST_P(GuardLibrary, WhatIsWellAlreadyIsHealedByItsOwnRetry) {
  GuardOptions options = quick();
  options.scan_every = 1h;
  options.min_interval = 1s;
  auto bills = begin(options);
  app_.execute("UPDATE user_bill SET status = 'SUCCESS'");
  start();

  bills->mark_abnormal(1).value();

  EXPECT_TRUE(reaches(2001)) << log_.all();
  EXPECT_THAT(bills->calls(), ::testing::IsEmpty());
}

// GUARD-10: maximum 2 and an interval of one hour: after one, then after two, then a person.
TEST_P(GuardLibrary, ARowThatKeepsFailingIsRetriedLaterAndLaterAndThenGivenToAPerson) {
  auto bills = begin(quick());
  std::vector<std::optional<RowExplanation>> seen;
  bills->on_handle = [&](const RowId& id) {
    seen.push_back(bills->explain(id).value());
    return false;
  };
  start();

  fails(*bills);
  retry_comes(1);
  retry_comes(2);

  ASSERT_TRUE(reaches(4001)) << log_.all();
  const GuardedRow row = bills->explain(1).value().row;
  EXPECT_EQ(row.retries, 2);
  EXPECT_EQ(row.next_retry, std::nullopt);
  EXPECT_EQ(status(), "FAIL");
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0]->row.retries, 0);
  EXPECT_EQ(seen[1]->row.retries, 1);
  EXPECT_EQ(seen[2]->row.retries, 2);
  EXPECT_EQ(seen[1]->last_error, "handle_exception answered false");
  EXPECT_TRUE(counts(*bills, &GuardFigures::escalated, 1));
  // Written after the row.
  EXPECT_TRUE(eventually([&] {
    const RowExplanation told = bills->explain(1).value();
    return told.last_error == "handle_exception answered false" &&
           engine_.find(told.task).value().state == "cancelled";
  }));
}

// As a scan may hand it over that read the row just before its last run was written.
TEST_P(GuardLibrary, ATaskThatFindsNothingToDoHidesNoError) {
  GuardOptions options = quick();
  options.max_retries = 0;
  auto bills = begin(options);
  start();
  fails(*bills);
  ASSERT_TRUE(eventually([&] {
    return bills->explain(1).value().last_error == "handle_exception answered false";
  })) << log_.all();
  const std::string tried = bills->explain(1).value().task;

  const std::string late =
      engine_.submit_bytes("guard.user_bill", "1", {.search_keys = {{"row", "1"}}}).value();
  ASSERT_TRUE(eventually([&] { return engine_.find(late).value().state == "cancelled"; }));

  EXPECT_EQ(bills->explain(1).value().task, tried);
  EXPECT_EQ(bills->explain(1).value().last_error, "handle_exception answered false");
}

// GUARD-9: an exception from user code counts as failure, whatever it is.
TEST_P(GuardLibrary, WhatUserCodeThrowsIsAFailure) {
  auto bills = begin(quick());
  std::atomic<int> runs = 0;
  bills->on_check = [&](const RowId&) -> bool {
    if (++runs == 1) throw std::runtime_error("the bank does not answer");
    return false;
  };
  bills->on_handle = [&](const RowId&) -> bool { throw 7; };
  start();

  fails(*bills);
  retry_comes(1);
  retry_comes(2);

  ASSERT_TRUE(reaches(4001)) << log_.all();
  EXPECT_GE(log_.count("check_status threw: the bank does not answer"), 1);
  EXPECT_GE(log_.count("handle_exception threw: what is no std::exception"), 1);
  EXPECT_TRUE(counts(*bills, &GuardFigures::runs_failed, 3));
}

// GUARD-5
TEST_P(GuardLibrary, AUserWithOpenRowsIsRefusedAndToldWhich) {
  auto bills = begin(quick());
  app_.execute("INSERT INTO user_bill VALUES (2, 'u-1', 'FAIL', 10)");
  app_.execute("INSERT INTO user_bill VALUES (3, 'u-2', 'FAIL', 10)");
  start();
  EXPECT_TRUE(bills->check_user_err("u-1"));

  bills->mark_abnormal(1).value();
  bills->mark_abnormal(2).value();

  const Result<> refused = bills->check_user_err("u-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("1, 2"));
  EXPECT_THAT(bills->open_rows_of("u-1").value(), ElementsAre(RowId(1), RowId(2)));
  EXPECT_TRUE(bills->check_user_err("u-2"));
  bills->processing_successful(1).value();
  bills->processing_successful(2).value();
  EXPECT_TRUE(bills->check_user_err("u-1"));
}

// GUARD-5: not undone by the business' rollback; on SQLite the business' own transaction would
// have the whole file, so there it is marked after it.
TEST_P(GuardLibrary, AMarkIsNotUndoneByTheBusinessTransactionsRollback) {
  auto bills = begin(quick());
  app_.execute("INSERT INTO user_bill VALUES (2, 'u-1', 'FAIL', 10)");
  start();
  const bool is_sqlite = std::string(GetParam()) == "Sqlite";

  app_.begin();
  app_.execute("UPDATE user_bill SET amount = 99 WHERE id = 2");
  if (is_sqlite) app_.rollback();
  EXPECT_EQ(bills->mark_abnormal(1).value(), 4000);
  if (!is_sqlite) app_.rollback();

  EXPECT_GE(number("err_status"), 2001);
  EXPECT_EQ(number("amount", 2), 10);
}

// GUARD-5, GUARD-16: nothing is created, and nothing is hidden.
TEST_P(GuardLibrary, ARowThatIsNotThereIsToldAndNotCreated) {
  auto bills = begin(quick());
  start();

  const auto marked = bills->mark_abnormal(77);
  const auto ended = bills->processing_successful(77);

  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(marked.error().message, HasSubstr("77"));
  EXPECT_EQ(ended.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(app_.number("SELECT COUNT(*) FROM user_bill"), 1);
}

// GUARD-5: a row that waits keeps its times, one that is with a person stays there.
TEST_P(GuardLibrary, MarkingAgainChangesNothingOfAnOpenRow) {
  auto bills = begin(quick());
  start();
  bills->mark_abnormal(1).value();
  const GuardedRow before = bills->explain(1).value().row;

  EXPECT_EQ(bills->mark_abnormal(1).value(), 4000);

  const GuardedRow after = bills->explain(1).value().row;
  EXPECT_EQ(after.start_time, before.start_time);
  EXPECT_EQ(after.next_retry, before.next_retry);
  app_.execute("UPDATE user_bill SET err_status = 4001, err_next_retry_time = NULL");
  EXPECT_EQ(bills->mark_abnormal(1).value(), 4001);
}

// GUARD-4: ids are numbers or text.
TEST_P(GuardLibrary, RowsMayBeNamedByText) {
  const std::string id = "5f1c3e0a-7d42-4f6b-9a51-0c3a3f0e8d11";
  app_.execute(bill_table("VARCHAR(36)"));
  app_.execute("INSERT INTO user_bill VALUES (?, 'u-1', 'FAIL', 10)", {id});
  auto bills = add(quick());
  bills->on_check = [&](const RowId& row) { return row == RowId(id); };
  start();

  bills->mark_abnormal(id).value();
  app_.execute("UPDATE user_bill SET err_next_retry_time = '2020-01-01 00:00:00'");

  EXPECT_TRUE(eventually([&] { return app_.number("SELECT err_status FROM user_bill") == 2001; }));
  EXPECT_EQ(bills->calls().front(), "check " + id);
}

// GUARD-8: rows that somebody marked by hand, without the library, are found by the scan.
TEST_P(GuardLibrary, RowsThatWereMarkedBySqlAreFoundByTheScan) {
  auto bills = begin(quick());
  bills->on_check = [](const RowId&) { return true; };
  start();

  app_.execute("UPDATE user_bill SET err_status = 4000");

  ASSERT_TRUE(reaches(2001)) << log_.all();
  EXPECT_NE(bills->explain(1).value().row.start_time, std::nullopt) << "healed first (GUARD-7)";
}

// GUARD-9
TEST_P(GuardLibrary, ItIsExplainedWhyARowIsNotScanned) {
  auto bills = begin(quick());
  start();
  const auto why = [&] { return bills->explain(1).value().why; };

  EXPECT_THAT(why(), HasSubstr("nothing is known to be wrong"));
  bills->mark_abnormal(1).value();
  EXPECT_THAT(why(), HasSubstr("err_next_retry_time has not come"));
  EXPECT_FALSE(bills->explain(1).value().due);
  app_.execute("UPDATE user_bill SET status = 'DRAFT'");
  EXPECT_THAT(why(), HasSubstr("not the guard's fail value"));
  EXPECT_EQ(bills->explain(77).error().code, ErrorCode::kNotFound);
}

TEST_P(GuardLibrary, WhatIsWrongWithAGuardIsToldByTheStart) {
  GuardOptions options = quick();
  options.status_field = "state";
  auto bills = begin(options);

  const Result<> started = engine_.start();

  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("status_field"));
  EXPECT_EQ(bills->mark_abnormal(1).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace recourse::tests
