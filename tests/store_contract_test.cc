// Every store under the one contract.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "store/contract/contract.h"
#include "store/memory/memory_store.h"
#include "store/mysql/mysql_store.h"
#include "store/postgres/postgres_store.h"
#include "store/relational/values.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/migrated_database.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::store::contract {
namespace {

const SystemClock kClock;

class MemoryUnderTest final : public StoreUnderTest {
 public:
  explicit MemoryUnderTest(std::shared_ptr<memory::SharedData> data)
      : data_(std::move(data)), opened_(memory::open(data_, kClock)) {}

  Store& store() override { return opened_->store(); }
  Reader& reader() override { return opened_->reader(); }
  Records& records() override { return opened_->records(); }
  Cases& cases() override { return opened_->cases(); }
  Creates& creates() override { return opened_->creates(); }
  Inbox& inbox() override { return opened_->inbox(); }
  void leave_case(TaskId task) override {
    memory::leave_case(*data_, {.task = task,
                                .fence = task::Fence(1),
                                .opened_at = TimePoint(),
                                .reminders = 3,
                                .remind_at = TimePoint()});
  }
  std::unique_ptr<StoreUnderTest> reopen_beside() override {
    return std::make_unique<MemoryUnderTest>(data_);
  }

 private:
  std::shared_ptr<memory::SharedData> data_;
  std::unique_ptr<OpenedStore> opened_;
};

constexpr std::string_view kLeaveCase =
    "INSERT INTO recourse_case (task_id, fence, opened_at, reminders, remind_at, assignee)"
    " VALUES (?, 1, 0, 3, 0, '')";

void leave_case_on(sql::Connection& connection, TaskId task) {
  relational::Values values;
  values.id(task.value);
  EXPECT_EQ(must(connection.execute(kLeaveCase, values.view())), 1);
}

class SqliteUnderTest final : public StoreUnderTest {
 public:
  Store& store() override { return opened_->store(); }
  Reader& reader() override { return opened_->reader(); }
  Records& records() override { return opened_->records(); }
  Cases& cases() override { return opened_->cases(); }
  Creates& creates() override { return opened_->creates(); }
  Inbox& inbox() override { return opened_->inbox(); }
  void leave_case(TaskId task) override {
    EXPECT_TRUE(opened_->creates().transact(kWithin, [&](Guest& guest) -> Result<> {
      const std::string id(task.value.bytes.begin(), task.value.bytes.end());
      const auto left = guest.execute(kLeaveCase, {SqlBytes{id}});
      return left ? Result<>() : fail(left.error());
    }));
  }
  std::unique_ptr<StoreUnderTest> reopen_beside() override { return nullptr; }

 private:
  tests::TemporaryDirectory directory_;
  std::unique_ptr<OpenedStore> opened_ = must(sqlite::open(directory_.path() / "store.db", kClock));
};

NullLog no_log;

// A database on a server, dropped with the last who holds it.
struct ServerDatabase {
  std::shared_ptr<const void> held;
  std::string url;
  bool is_postgres = false;
};

std::unique_ptr<OpenedStore> open_on(const ServerDatabase& database) {
  return must(database.is_postgres ? postgres::open(database.url)
                                   : mysql::open(database.url, no_log));
}

std::unique_ptr<sql::Connection> connect_to(const ServerDatabase& database) {
  const sql::Deadline soon = std::chrono::steady_clock::now() + kWithin;
  if (database.is_postgres) return must(sql::postgres::connect(database.url, soon));
  return must(sql::mysql::connect(database.url, soon));
}

// On a database server: another node is another set of connections.
class ServerUnderTest final : public StoreUnderTest {
 public:
  explicit ServerUnderTest(ServerDatabase database)
      : database_(std::move(database)), opened_(open_on(database_)) {}

  Store& store() override { return opened_->store(); }
  Reader& reader() override { return opened_->reader(); }
  Records& records() override { return opened_->records(); }
  Cases& cases() override { return opened_->cases(); }
  Creates& creates() override { return opened_->creates(); }
  Inbox& inbox() override { return opened_->inbox(); }
  void leave_case(TaskId task) override {
    const auto connection = connect_to(database_);
    ASSERT_TRUE(connection->begin());
    leave_case_on(*connection, task);
    EXPECT_TRUE(connection->commit());
  }
  std::unique_ptr<StoreUnderTest> reopen_beside() override {
    return std::make_unique<ServerUnderTest>(database_);
  }

 private:
  ServerDatabase database_;  // dropped after its last connection
  std::unique_ptr<OpenedStore> opened_;
};

std::unique_ptr<StoreUnderTest> on_postgres() {
  auto database = std::make_shared<tests::MigratedPostgres>();
  return std::make_unique<ServerUnderTest>(
      ServerDatabase{.held = database, .url = database->url(), .is_postgres = true});
}

std::unique_ptr<StoreUnderTest> on_mariadb() {
  auto database = std::make_shared<tests::MigratedMariadb>();
  return std::make_unique<ServerUnderTest>(
      ServerDatabase{.held = database, .url = database->url()});
}

std::unique_ptr<StoreUnderTest> on_mysql(const std::string& server) {
  auto database = std::make_shared<tests::FreshMariadb>(server);
  return std::make_unique<ServerUnderTest>(
      ServerDatabase{.held = database, .url = database->url()});
}

// None where RECOURSE_TEST_MYSQL is not set.
std::vector<StoreBackend> mysql_backends() {
  const std::optional<std::string> server = tests::mysql_url();
  if (!server) return {};
  return {{"Mysql", [server] { return on_mysql(*server); }}};
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract,
                         testing::Values(StoreBackend{"Postgres", on_postgres}), backend_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, StoreContract,
                         testing::Values(StoreBackend{"Mariadb", on_mariadb}), backend_name);
INSTANTIATE_TEST_SUITE_P(Mysql, StoreContract, testing::ValuesIn(mysql_backends()), backend_name);
INSTANTIATE_TEST_SUITE_P(
    Memory, StoreContract,
    testing::Values(StoreBackend{
        "Memory", [] { return std::make_unique<MemoryUnderTest>(memory::make_data()); }}),
    backend_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract,
                         testing::Values(StoreBackend{
                             "Sqlite", [] { return std::make_unique<SqliteUnderTest>(); }}),
                         backend_name);

}  // namespace
}  // namespace recourse::store::contract
