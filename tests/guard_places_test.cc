// Where guarded tables may be: in the engine's own store, or anywhere else.
#include "recourse/create.h"
#include "tests/guard_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

GuardOptions options_of(std::string database) {
  return {.database = std::move(database),
          .table = "user_bill",
          .status_field = "status",
          .success_value = "SUCCESS",
          .fail_value = "FAIL",
          .min_interval = 1s,
          .scan_every = 100ms};
}

class GuardPlaces : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Stores, GuardPlaces, kGuardStores, guard_store_name);

// On SQLite all writes go through the store's one writer.
TEST_P(GuardPlaces, TheTableMayBeInTheEnginesOwnStore) {
  const Place place(GetParam());
  Engine engine = Engine::open({.store = place.url(), .scan_period = 100ms}).value();
  Create shop(engine);
  const auto run = [&](std::string_view statement) {
    return shop.transact(5s, [&](CreateTransaction& own) -> Result<> {
      const auto done = own.execute(statement);
      return done ? Result<>() : fail(done.error());
    });
  };
  ASSERT_TRUE(run(bill_table()));
  ASSERT_TRUE(run("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL', 10)"));
  auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(options_of("")));
  bills->on_check = [](const RowId&) { return true; };
  const Result<> started = engine.start();
  ASSERT_TRUE(started) << started.error().message;

  bills->mark_abnormal(1).value();

  EXPECT_TRUE(eventually([&] { return bills->explain(1).value().row.err_status == 2001; }));
  EXPECT_EQ(bills->explain(1).value().row.business_status, "SUCCESS");
}

TEST_P(GuardPlaces, TheTableMayBeInAnotherDatabaseThanTheStore) {
  const TemporaryDirectory directory;
  const Place place(GetParam());
  Application app(place.url().starts_with("sqlite:")
                      ? "sqlite:" + (directory.path() / "shop.db").string()
                      : place.url());
  app.execute(bill_table());
  app.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL', 10)");
  LogLines log;
  Engine engine =
      Engine::open({.store = "memory:", .scan_period = 100ms, .log = log.sink()}).value();
  auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(options_of(app.url())));
  bills->on_check = [](const RowId&) { return true; };
  engine.start().value();

  EXPECT_TRUE(eventually([&] { return log.count("guard_table_prepared") == 2; }))
      << "a table's owner wants to know of the columns, and of the indexes";
  bills->mark_abnormal(1).value();

  EXPECT_TRUE(eventually([&] { return app.text("SELECT status FROM user_bill") == "SUCCESS"; }));
}

TEST(GuardPlace, AStoreInMemoryHasNoTablesAndSaysWhatToDo) {
  Engine engine = Engine::open({.store = "memory:"}).value();
  auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(
      GuardOptions{.table = "t", .status_field = "s", .success_value = "1", .fail_value = "0"}));

  const Result<> started = engine.start();

  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("database"));
}

// An application that writes without a pause, or holds a long transaction, keeps nobody from
// starting; tables of one file share its one opener then too.
TEST(GuardPlace, AFileThatIsLockedAtTheStartIsOpenedByAScanAfterwards) {
  const TemporaryDirectory directory;
  Application app("sqlite:" + (directory.path() / "shop.db").string());
  app.execute(bill_table());
  app.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'FAIL', 10)");
  app.execute("CREATE TABLE refund (id INTEGER PRIMARY KEY, user_id TEXT, status TEXT)");
  app.execute("INSERT INTO refund VALUES (1, 'u-1', 'FAIL')");
  LogLines log;
  Engine engine =
      Engine::open({.store = "memory:", .scan_period = 100ms, .log = log.sink()}).value();
  Guards guards = Guards::on(engine).value();
  GuardOptions options = options_of(app.url());
  auto bills = guards.add(std::make_shared<Bills>(options));
  options.table = "refund";
  auto refunds = guards.add(std::make_shared<Bills>(options));
  for (const auto& each : {bills, refunds}) each->on_check = [](const RowId&) { return true; };
  app.execute("BEGIN EXCLUSIVE");

  engine.start().value();

  EXPECT_EQ(bills->mark_abnormal(1).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(log.count("guard_not_ready"), 2);
  app.execute("COMMIT");
  EXPECT_TRUE(eventually([&] { return bills->mark_abnormal(1).has_value(); }));
  EXPECT_TRUE(eventually([&] { return refunds->mark_abnormal(1).has_value(); }));
  for (const char* table : {"user_bill", "refund"}) {
    EXPECT_TRUE(eventually([&] {
      return app.text("SELECT status FROM " + std::string(table)) == "SUCCESS";
    })) << table;
  }
}

// Of a large table they take long; here somebody's long transaction is in their way.
TEST_P(GuardPlaces, NeitherAStartNorAStopWaitsForIndexes) {
  if (GetParam() == std::string("Sqlite")) GTEST_SKIP() << "a file is locked while it gets them";
  const Place place(GetParam());
  Application app(place.url());
  Application slow(place.url());
  const std::string time = GetParam() == std::string("Postgres") ? "timestamp" : "DATETIME";
  app.execute(
      "CREATE TABLE user_bill (id BIGINT NOT NULL PRIMARY KEY, status VARCHAR(20), err_status INT, "
      "err_start_time " +
      time + ", err_retry_count INT, err_next_retry_time " + time +
      ", err_min_interval INT, err_timeout INT, err_submit_manual_status INT, "
      "err_next_remind_staff_time " +
      time + ", err_manual_notify_count INT)");
  app.execute("INSERT INTO user_bill (id, status) VALUES (1, 'FAIL'), (2, 'FAIL')");
  const auto open = [](LogLines& log) {
    return Engine::open({.store = "memory:", .scan_period = 100ms, .log = log.sink()}).value();
  };
  slow.begin();
  slow.execute("UPDATE user_bill SET status = 'NEW' WHERE id = 2");
  {
    LogLines log;
    Engine engine = open(log);
    auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(options_of(app.url())));
    bills->on_check = [](const RowId&) { return true; };
    engine.start().value();
    ASSERT_TRUE(eventually([&] { return log.count("guard_indexes_begun") == 1; }));

    bills->mark_abnormal(1).value();

    EXPECT_TRUE(eventually(
        [&] { return app.text("SELECT status FROM user_bill WHERE id = 1") == "SUCCESS"; }));
    const auto begin = std::chrono::steady_clock::now();
    engine.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(log.count("guard_table_prepared"), 0);
  }
  slow.commit();
  LogLines log;
  Engine engine = open(log);
  auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(options_of(app.url())));
  engine.start().value();

  // What the first one's session has left is found, and may be waited for.
  const std::string complete =
      GetParam() == std::string("Postgres")
          ? "SELECT COUNT(*) FROM pg_index WHERE indisvalid AND indrelid = "
            "to_regclass('user_bill')"
          : "SELECT COUNT(DISTINCT index_name) FROM "
            "information_schema.statistics WHERE table_schema = "
            "DATABASE() AND table_name = 'user_bill'";
  EXPECT_TRUE(eventually([&] { return app.number(complete) == 4; }, 60s)) << log.all();
}

// The nine columns are one error's.
TEST_P(GuardPlaces, TwoStatusesOfOneTableAreNotGuardedTogether) {
  const TemporaryDirectory directory;
  const Place place(GetParam());
  Application app(place.url().starts_with("sqlite:")
                      ? "sqlite:" + (directory.path() / "shop.db").string()
                      : place.url());
  app.execute(
      "CREATE TABLE user_bill (id BIGINT NOT NULL PRIMARY KEY, status VARCHAR(20), "
      "shipped VARCHAR(20))");
  Engine engine = Engine::open({.store = "memory:"}).value();
  auto guards = Guards::on(engine).value();
  guards.add(std::make_shared<Bills>(options_of(app.url())));
  GuardOptions shipping = options_of(app.url());
  shipping.name = "shipping";
  shipping.status_field = "shipped";
  guards.add(std::make_shared<Bills>(shipping));

  const Result<> started = engine.start();

  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("guard the same table"));
}

TEST(GuardPlace, WrongSettingsAreToldAlthoughTheDatabaseIsAway) {
  Engine engine = Engine::open({.store = "memory:"}).value();
  auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(
      GuardOptions{.database = "postgres://nobody@127.0.0.1:1/none", .table = "no such; name"}));

  const Result<> started = engine.start();

  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("table"));
}

TEST(GuardPlace, AnEngineHasOneGuardDoor) {
  Engine engine = Engine::open({.store = "memory:"}).value();
  EXPECT_TRUE(Guards::on(engine));
  EXPECT_FALSE(Guards::on(engine));
}

}  // namespace
}  // namespace recourse::tests
