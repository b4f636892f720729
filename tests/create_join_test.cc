// REQUIRED: a create inside of a transaction of the caller's own; and the drivers' own handles.
#include <libpq-fe.h>
#include <mysql.h>

#include "sql/mysql/address.h"
#include "tests/create_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

// A connection that the shop has beside the store's.
class Shop {
 public:
  virtual ~Shop() = default;
  virtual bool run(const std::string& statement) = 0;
  virtual Result<CreateTransaction> join(Create& create) = 0;
};

class PostgresShop final : public Shop {
 public:
  explicit PostgresShop(const std::string& url) : handle_(PQconnectdb(url.c_str())) {}
  ~PostgresShop() override { PQfinish(handle_); }
  PostgresShop(const PostgresShop&) = delete;
  PostgresShop& operator=(const PostgresShop&) = delete;

  bool run(const std::string& statement) override {
    PGresult* result = PQexec(handle_, statement.c_str());
    const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done;
  }
  Result<CreateTransaction> join(Create& create) override { return create.join(handle_); }

 private:
  PGconn* handle_;
};

class MariadbShop final : public Shop {
 public:
  explicit MariadbShop(const std::string& url) : handle_(mysql_init(nullptr)) {
    const auto address = sql::mysql::parse_address(url).value();
    mysql_options(handle_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    EXPECT_NE(mysql_real_connect(handle_, address.host.c_str(), address.user.c_str(),
                                 address.password.c_str(), address.database.c_str(), address.port,
                                 address.socket.empty() ? nullptr : address.socket.c_str(), 0),
              nullptr)
        << mysql_error(handle_);
  }
  ~MariadbShop() override { mysql_close(handle_); }
  MariadbShop(const MariadbShop&) = delete;
  MariadbShop& operator=(const MariadbShop&) = delete;

  bool run(const std::string& statement) override {
    return mysql_query(handle_, statement.c_str()) == 0;
  }
  Result<CreateTransaction> join(Create& create) override { return create.join(handle_); }

 private:
  MYSQL* handle_;
};

class CreateWithin : public CreateOnStore {
 protected:
  static CreateRequest joined(CreateRequest request) {
    request.mode = TransactionMode::kRequired;
    return request;
  }
  Result<Created<std::string>> create_in(CreateTransaction& own, const CreateRequest& request) {
    return create_.run_bytes_within(own, request,
                                    [&](CreateTransaction& work, const NewResource& order) {
                                      ++runs_;
                                      return place(work, order, request.key);
                                    });
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, CreateWithin, kCreateStores, create_store_name);

// IDEM-3
TEST_P(CreateWithin, CommitsWithTheCallersTransactionAndRollsBackWithIt) {
  CreateRequest request = joined(request_of("k-1"));
  request.lock_ttl = 300ms;
  const Result<> undone = create_.transact(5s, [&](CreateTransaction& own) -> Result<> {
    const auto made = create_in(own, request);
    EXPECT_TRUE(made) << made.error().message;
    return fail(ErrorCode::kExhausted, "the caller thought better of it");
  });
  EXPECT_EQ(undone.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(orders(), 0);

  // The key is free again: at once on SQLite, where it was taken in the same transaction, else when
  // its lock ends.
  std::string id;
  EXPECT_TRUE(eventually([&] {
    return create_
        .transact(5s,
                  [&](CreateTransaction& own) -> Result<> {
                    const auto made = create_in(own, request);
                    if (!made) return fail(made.error());
                    if (made->in_progress) return fail(ErrorCode::kUnavailable, "later");
                    id = made->public_id;
                    return {};
                  })
        .has_value();
  }));
  EXPECT_EQ(orders(), 1);
  const auto again = create(request_of("k-1"));
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->public_id, id);
}

// A work that fails is undone, whatever its caller does then, and the key can be tried again.
TEST_P(CreateWithin, AWorkThatFailsIsUndoneAndTheCallersTransactionGoesOn) {
  const Result<> done = create_.transact(5s, [&](CreateTransaction& own) -> Result<> {
    const auto failed = create_.run_bytes_within(
        own, joined(request_of("k-1")),
        [&](CreateTransaction& work, const NewResource& order) -> Result<std::string> {
          EXPECT_TRUE(place(work, order, "k-1"));
          return fail(ErrorCode::kExhausted, "no stock");
        });
    EXPECT_EQ(failed.error().code, ErrorCode::kExhausted);
    const auto other = create_in(own, joined(request_of("k-2")));
    return other ? Result<>() : fail(other.error());
  });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(number("SELECT COUNT(*) FROM shop_order WHERE idem_key = 'k-1'"), 0);
  EXPECT_EQ(orders(), 1);
  EXPECT_TRUE(create(request_of("k-1")));
  EXPECT_EQ(orders(), 2);
}

// The lock of one that joined may be over before its mark.
TEST_P(CreateWithin, AHolderWhoWasSucceededIsRefusedAndUndone) {
  if (GetParam() == std::string("Sqlite")) GTEST_SKIP() << "nobody else can have the key meanwhile";
  CreateRequest brief = joined(request_of("k-1"));
  brief.lock_ttl = 200ms;
  const Result<> done = create_.transact(9s, [&](CreateTransaction& own) -> Result<> {
    const auto late = create_.run_bytes_within(
        own, brief, [&](CreateTransaction&, const NewResource& order) -> Result<std::string> {
          EXPECT_TRUE(eventually([&] {
            const auto next = create(request_of("k-1"));
            return next && !next->in_progress;
          }));
          return order.public_id;
        });
    EXPECT_TRUE(!late && late.error().code == ErrorCode::kConflict);
    return {};
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(orders(), 1);
}

class CreateOnServer : public CreateWithin {
 protected:
  void SetUp() override {
    CreateWithin::SetUp();
    if (GetParam() == std::string("Postgres")) {
      shop_ = std::make_unique<PostgresShop>(place_.url());
    } else {
      shop_ = std::make_unique<MariadbShop>(place_.url());
    }
  }
  void begin() { ASSERT_TRUE(shop_->run("START TRANSACTION")); }

  std::unique_ptr<Shop> shop_;
};
INSTANTIATE_TEST_SUITE_P(Stores, CreateOnServer, ::testing::Values("Postgres", "Mariadb"),
                         create_store_name);

// IDEM-3: until the caller commits, others see it in progress.
TEST_P(CreateOnServer, JoinsATransactionOnTheCallersOwnConnection) {
  begin();
  auto own = shop_->join(create_);
  ASSERT_TRUE(own) << own.error().message;
  const auto made = create_in(*own, joined(request_of("k-1")));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(orders(), 0) << "not committed";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(create(request_of("k-1"))->in_progress);
  EXPECT_EQ(create(request_of("k-1", R"({"amount": 9})")).error().code, ErrorCode::kConflict);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s) << "nobody waits for the caller";

  ASSERT_TRUE(shop_->run("COMMIT"));
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(create(request_of("k-1"))->public_id, made->public_id);
  EXPECT_EQ(runs_, 1);
}

// While the marked row is locked by the caller, whoever finds the lock over is not held up by it.
TEST_P(CreateOnServer, ACallerWhoStaysOpenBeyondTheLockHoldsNobodyUp) {
  CreateRequest brief = joined(request_of("k-1"));
  brief.lock_ttl = 200ms;
  begin();
  auto own = shop_->join(create_);
  ASSERT_TRUE(own);
  ASSERT_TRUE(create_in(*own, brief));
  std::this_thread::sleep_for(300ms);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(create(request_of("k-1"))->in_progress);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
  ASSERT_TRUE(shop_->run("ROLLBACK"));
  EXPECT_FALSE(create(request_of("k-1"))->in_progress);
  EXPECT_EQ(orders(), 1);
}

TEST_P(CreateOnServer, AConnectionWithoutATransactionIsNotJoined) {
  const auto own = shop_->join(create_);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(own.error().message, HasSubstr("not inside a transaction"));
}

// The handle, the transaction's own statements and the handle again.
TEST_P(CreateOnServer, LendsTheDriversOwnHandle) {
  const bool is_postgres = GetParam() == std::string("Postgres");
  const auto insert = [&](CreateTransaction& own, const std::string& id) {
    const std::string statement =
        is_postgres ? "INSERT INTO shop_order VALUES ('\\x" + id + "', '" + id + "', '', 1)"
                    : "INSERT INTO shop_order VALUES (x'" + id + "', '" + id + "', '', 1)";
    if (is_postgres) {
      PGconn* handle = own.postgres().value();
      PGresult* result = PQexec(handle, statement.c_str());
      const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
      PQclear(result);
      return done;
    }
    return mysql_query(own.mysql().value(), statement.c_str()) == 0;
  };
  const auto work = [&](CreateTransaction& own, const NewResource& order) -> Result<std::string> {
    EXPECT_TRUE(insert(own, "0a"));
    const auto placed = place(own, order, "k-1");
    EXPECT_TRUE(insert(own, "0b"));
    EXPECT_EQ((is_postgres ? own.mysql().error().code : own.postgres().error().code),
              ErrorCode::kInvalid);
    return placed;
  };
  for (int i = 0; i < 2; ++i) {
    const auto made = create_.run_bytes(request_of("k-1"), work);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->replayed, i == 1);
  }
  EXPECT_EQ(orders(), 3);
  // A work that fails afterwards leaves nothing of what the handle wrote.
  EXPECT_FALSE(
      create_.run_bytes(request_of("k-2"), [&](CreateTransaction& own, const NewResource&) {
        EXPECT_TRUE(insert(own, "0c"));
        return Result<std::string>(fail(ErrorCode::kInvalid, "no"));
      }));
  EXPECT_EQ(orders(), 3);
}

TEST_P(CreateOnServer, AnEndedTransactionOnTheHandleIsFoundOut) {
  const auto made =
      create_.run_bytes(request_of("k-1"), [&](CreateTransaction& own, const NewResource& order) {
        if (GetParam() == std::string("Postgres")) {
          PQclear(PQexec(own.postgres().value(), "ROLLBACK"));
        } else {
          EXPECT_EQ(mysql_query(own.mysql().value(), "ROLLBACK"), 0);
        }
        return Result<std::string>(order.public_id);
      });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(create(request_of("k-1"))) << "the pool opens another connection";
}

}  // namespace
}  // namespace recourse::tests
