// Where guarded tables may be: in the engine's own store, or anywhere else.
#include "recourse/create.h"
#include "tests/guard_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

class GuardPlaces : public ::testing::TestWithParam<const char*> {
 protected:
  static GuardOptions options_of(std::string database) {
    return {.database = std::move(database),
            .table = "user_bill",
            .status_field = "status",
            .success_value = "SUCCESS",
            .fail_value = "FAIL",
            .min_interval = 1s,
            .scan_every = 100ms};
  }
};
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
  Engine engine = Engine::open({.store = "memory:", .scan_period = 100ms}).value();
  auto bills = Guards::on(engine).value().add(std::make_shared<Bills>(options_of(app.url())));
  bills->on_check = [](const RowId&) { return true; };
  engine.start().value();

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

TEST(GuardPlace, AnEngineHasOneGuardDoor) {
  Engine engine = Engine::open({.store = "memory:"}).value();
  EXPECT_TRUE(Guards::on(engine));
  EXPECT_FALSE(Guards::on(engine));
}

}  // namespace
}  // namespace recourse::tests
