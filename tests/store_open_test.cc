// What can be wrong with a database on a server: a clear error that says what to do, nothing
// changed, and work goes on when the cause is gone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "store/contract/parallel.h"
#include "tests/store_faults_support.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using namespace store;
using contract::code_of;
using contract::kWithin;
using contract::must;
using contract::pending;
using contract::spec_of;
using task::TaskId;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<sql::Connection> connect(ServerKind kind, const std::string& url) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  if (kind == ServerKind::kPostgres) return must(sql::postgres::connect(url, deadline));
  return must(sql::mysql::connect(url, deadline));
}

std::string with_user(const std::string& url, const std::string& user) {
  return url.substr(0, url.find("://") + 3) + user + url.substr(url.find('@'));
}

class ServerOpening : public testing::TestWithParam<ServerKind> {
 protected:
  void TearDown() override {
    admin_.reset();
    if (has_user_) drop_user();
  }

  [[nodiscard]] static bool on_postgres() { return GetParam() == ServerKind::kPostgres; }
  [[nodiscard]] std::string url() const { return database_.url(); }
  [[nodiscard]] std::string users_url() const { return with_user(url(), user_); }
  [[nodiscard]] std::string database_name() const {
    const std::string path = url().substr(url().find('/', url().find("://") + 3) + 1);
    return path.substr(0, path.find('?'));
  }

  void run(const std::string& statement) {
    const Result<> ran = admin_->run(statement);
    ASSERT_TRUE(ran) << statement << ": " << ran.error().message;
  }
  void run_on(const std::string& postgres, const std::string& mariadb) {
    run(on_postgres() ? postgres : mariadb);
  }
  std::int64_t number(const std::string& statement) {
    std::int64_t answer = -1;
    const Result<> asked =
        admin_->query(statement, {}, [&](const sql::Row& row) { answer = row.integer(0); });
    EXPECT_TRUE(asked) << asked.error().message;
    return answer;
  }
  std::int64_t tables() {
    return number(fmt::format(
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{}' AND table_name "
        "LIKE 'recourse%'",
        on_postgres() ? "public" : database_name()));
  }

  // Somebody who may connect and nothing else.
  void make_user() {
    has_user_ = true;
    run_on(fmt::format("CREATE ROLE {} LOGIN", user_),
           fmt::format("CREATE USER {0}@localhost; GRANT SELECT ON {1}.* TO {0}@localhost", user_,
                       database_name()));
  }
  void drop_user() {
    admin_ = connect(GetParam(), url());
    run_on(fmt::format("DROP OWNED BY {0}; DROP ROLE {0}", user_),
           fmt::format("DROP USER {}@localhost", user_));
    admin_.reset();
  }
  void grant(const std::string& rights, const std::string& table) {
    run_on(fmt::format("GRANT {} ON {} TO {}", rights, table, user_),
           fmt::format("GRANT {} ON {} TO {}@localhost", rights, table, user_));
  }

  Error refusal(const std::string& where) {
    const auto opened = open_at(GetParam(), where);
    return opened ? Error{ErrorCode::kInDoubt, "it opens"} : opened.error();
  }
  Result<InsertAnswer> insert(OpenedStore& opened) {
    return opened.store().insert(std::vector{pending(TaskId(ids_.next()), spec_of())},
                                 Novelty::kFresh, kWithin);
  }

  ServerDatabase database_{GetParam()};
  std::unique_ptr<sql::Connection> admin_ = connect(GetParam(), url());
  const std::string user_ = fmt::format("opening_{}", ::getpid());
  bool has_user_ = false;
  SystemClock clock_;
  UlidSource ids_{clock_, 3};
};

TEST_P(ServerOpening, SaysWhatIsWrongWithTheUrl) {
  const std::string scheme = on_postgres() ? "postgres" : "mysql";
  const std::string other_scheme = on_postgres() ? "mysql" : "postgres";
  struct Wrong {
    std::string url;
    ErrorCode code;
    std::string advice;
  };
  const std::vector<Wrong> all{
      {other_scheme + "://u:sesame@localhost/db", ErrorCode::kInvalid, scheme + "://user"},
      {scheme + "://u:sesame@no-such-host.invalid/db", ErrorCode::kUnavailable, "no-such-host"},
      {scheme + "://u:sesame@127.0.0.1:1/db", ErrorCode::kUnavailable, "running"},
      {scheme + "://u:sesame@127.0.0.1:port/db", ErrorCode::kInvalid, scheme + "://user"},
      {with_user(url(), "nobody_here:sesame"), ErrorCode::kInvalid, "user"},
      {with_database(url(), "no_such_database"), ErrorCode::kInvalid, "no_such_database"},
  };
  for (const Wrong& wrong : all) {
    const Error refused = refusal(wrong.url);

    EXPECT_EQ(refused.code, wrong.code) << wrong.url << ": " << refused.message;
    EXPECT_THAT(refused.message, HasSubstr(wrong.advice)) << wrong.url;
    EXPECT_THAT(refused.message, Not(HasSubstr("sesame")));
  }
}

TEST_P(ServerOpening, SaysThatThePasswordIsWrong) {
  // The private servers trust everybody but this one.
  const std::string user = on_postgres() ? "needs_password" : user_;
  run_on(
      "DO $$ BEGIN CREATE ROLE needs_password LOGIN PASSWORD 'right'; "
      "EXCEPTION WHEN duplicate_object THEN NULL; END $$",
      fmt::format("CREATE USER {}@localhost IDENTIFIED BY 'right'", user));
  has_user_ = !on_postgres();

  const Error refused = refusal(with_user(url(), user + ":sesame"));

  EXPECT_EQ(refused.code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.message, HasSubstr("password in the"));
  EXPECT_THAT(refused.message, Not(HasSubstr("sesame")));
  EXPECT_EQ(tables(), 0);
}

TEST_P(ServerOpening, SaysWhichRightIsMissing) {
  make_user();

  const Error refused = refusal(users_url());

  EXPECT_EQ(refused.code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.message, AnyOf(HasSubstr("grant the"), HasSubstr("GRANT the")));
  EXPECT_EQ(tables(), 0);
  run_on(fmt::format("GRANT CREATE ON SCHEMA public TO {}", user_),
         fmt::format("GRANT ALL ON {}.* TO {}@localhost", database_name(), user_));
  const auto opened = must(open_at(GetParam(), users_url()));
  EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
}

TEST_P(ServerOpening, NeedsNoRightToCreateWhereTheTablesAreThere) {
  (void)must(open_at(GetParam(), url()));
  make_user();
  run_on(fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {0}; "
                     "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {0}",
                     user_),
         fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON {}.* TO {}@localhost",
                     database_name(), user_));

  const auto opened = must(open_at(GetParam(), users_url()));

  EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
}

TEST_P(ServerOpening, SaysInTheMiddleWhichRightIsMissingAndGoesOnWhenItIsGranted) {
  (void)must(open_at(GetParam(), url()));
  make_user();
  for (const char* table : {"meta", "unique", "search", "archive", "counter"}) {
    grant("SELECT, INSERT, UPDATE, DELETE", std::string("recourse_") + table);
  }
  grant("SELECT, UPDATE", "recourse_task");
  const auto opened = must(open_at(GetParam(), users_url()));

  const auto refused = insert(*opened);

  ASSERT_EQ(code_of(refused), ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("recourse_task"));
  EXPECT_THAT(refused.error().message, AnyOf(HasSubstr("grant the"), HasSubstr("GRANT the")));
  EXPECT_EQ(number("SELECT COUNT(*) FROM recourse_counter"), 0);
  grant("INSERT", "recourse_task");
  EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
}

TEST_P(ServerOpening, SaysAtTheStartAndInTheMiddleThatTheServerIsReadOnly) {
  make_user();
  run_on(fmt::format("GRANT CREATE ON SCHEMA public TO {}", user_),
         fmt::format("GRANT ALL ON {}.* TO {}@localhost", database_name(), user_));
  const auto set_read_only = [&](bool on) {
    run_on(fmt::format("ALTER ROLE {} SET default_transaction_read_only = {}", user_,
                       on ? "on" : "off"),
           fmt::format("SET GLOBAL read_only = {}", on ? 1 : 0));
    if (!on_postgres()) return;
    // Sessions have it from their beginning, as they have when the server becomes a standby.
    run(
        fmt::format("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE usename = "
                    "'{}' AND {}",
                    user_, on ? "true" : "false"));
  };
  set_read_only(true);
  const Error refused = refusal(users_url());
  EXPECT_EQ(refused.code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.message, HasSubstr("to the primary"));
  EXPECT_EQ(tables(), 0);

  set_read_only(false);
  const auto opened = must(open_at(GetParam(), users_url()));
  EXPECT_EQ(code_of(insert(*opened)), std::nullopt);

  set_read_only(true);
  const auto denied = insert(*opened);
  set_read_only(false);
  ASSERT_EQ(code_of(denied), ErrorCode::kUnavailable);
  EXPECT_THAT(denied.error().message, HasSubstr("to the primary"));
  EXPECT_EQ(number("SELECT COUNT(*) FROM recourse_task"), 1);
  EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
}

TEST_P(ServerOpening, RefusesANewerSchemaAndChangesNothing) {
  (void)must(open_at(GetParam(), url()));
  run("UPDATE recourse_meta SET value = 999 WHERE name = 'schema'");
  run("DROP TABLE recourse_pause");
  const std::int64_t before = tables();

  const Error refused = refusal(url());

  EXPECT_EQ(refused.code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.message, HasSubstr("schema 999"));
  EXPECT_THAT(refused.message, HasSubstr("at least as new"));
  EXPECT_EQ(number("SELECT value FROM recourse_meta WHERE name = 'schema'"), 999);
  EXPECT_EQ(tables(), before) << "the missing table was not made";
}

TEST_P(ServerOpening, ByManyAtOnceMakesTheSchemaOnce) {
  constexpr int kStarters = 6;
  contract::in_parallel(kStarters, [&](int) {
    const auto opened = must(open_at(GetParam(), url()));
    EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
  });

  EXPECT_EQ(number("SELECT COUNT(*) FROM recourse_meta WHERE name = 'schema'"), 1);
  EXPECT_EQ(number("SELECT COUNT(*) FROM recourse_meta WHERE name = 'pauses'"), 1);
  EXPECT_EQ(number("SELECT COUNT(*) FROM recourse_task"), kStarters);
}

INSTANTIATE_TEST_SUITE_P(Servers, ServerOpening,
                         testing::Values(ServerKind::kPostgres, ServerKind::kMariadb), case_name);

}  // namespace
}  // namespace recourse::tests
