#include "tests/store_lent_callers.h"

#include <libpq-fe.h>
#include <mysql.h>

#include "base/invariant.h"
#include "base/log.h"
#include "sql/mysql/address.h"
#include "sql/mysql/wire.h"
#include "sql/postgres/handles.h"
#include "store/contract/contract.h"
#include "store/mysql/lent.h"
#include "store/mysql/mysql_store.h"
#include "store/postgres/lent.h"
#include "store/postgres/postgres_store.h"
#include "tests/support/test_servers.h"

namespace recourse::store {
namespace {

using contract::must;

class PostgresCaller final : public Caller {
 public:
  explicit PostgresCaller(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    invariant(PQstatus(connection_.get()) == CONNECTION_OK, "the test server answers");
  }

  Result<InsertAnswer> submit(std::span<const Submission> batch) override {
    return postgres::submit_on(connection_.get(), batch);
  }
  bool run(const std::string& statement) override {
    const sql::postgres::ResultHandle result(PQexec(connection_.get(), statement.c_str()));
    const ExecStatusType status = PQresultStatus(result.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  }
  std::string text(const std::string& statement) override {
    const sql::postgres::ResultHandle result(PQexec(connection_.get(), statement.c_str()));
    invariant(PQntuples(result.get()) > 0, "the statement answers with a row");
    return PQgetvalue(result.get(), 0, 0);
  }

 private:
  sql::postgres::ConnectionHandle connection_;
};

class LentPostgres final : public LentServer {
 public:
  OpenedStore& opened() override { return *opened_; }
  std::unique_ptr<Caller> new_caller() const override {
    return std::make_unique<PostgresCaller>(database_.url());
  }
  std::unique_ptr<Caller> foreign_caller() const override {
    return std::make_unique<PostgresCaller>(database_.url() + "&client_encoding=LATIN1");
  }
  std::unique_ptr<Caller> lost_caller() const override {
    return std::make_unique<PostgresCaller>(empty_.url());
  }

 private:
  tests::FreshPostgres database_;
  tests::FreshPostgres empty_;
  std::unique_ptr<OpenedStore> opened_ = must(postgres::open(database_.url()));
};

class MariadbCaller final : public Caller {
 public:
  MariadbCaller(const std::string& url, const char* character_set) : handle_(mysql_init(nullptr)) {
    const sql::mysql::Address address = must(sql::mysql::parse_address(url));
    const char* socket = address.socket.empty() ? nullptr : address.socket.c_str();
    mysql_options(handle_.get(), MYSQL_SET_CHARSET_NAME, character_set);
    const MYSQL* connected = mysql_real_connect(handle_.get(), address.host.c_str(),
                                                address.user.c_str(), address.password.c_str(),
                                                address.database.c_str(), address.port, socket, 0);
    invariant(connected != nullptr, "the test server answers");
  }

  Result<InsertAnswer> submit(std::span<const Submission> batch) override {
    return mysql::submit_on(handle_.get(), batch);
  }
  bool run(const std::string& statement) override {
    return mysql_real_query(handle_.get(), statement.data(), statement.size()) == 0;
  }
  std::string text(const std::string& statement) override {
    invariant(run(statement), "the statement is right");
    MYSQL_RES* result = mysql_store_result(handle_.get());
    MYSQL_ROW row = mysql_fetch_row(result);
    invariant(row != nullptr && row[0] != nullptr, "the statement answers with a row");
    std::string cell = row[0];
    mysql_free_result(result);
    return cell;
  }

 private:
  std::unique_ptr<MYSQL, sql::mysql::HandleCloser> handle_;
};

class LentMariadb final : public LentServer {
 public:
  OpenedStore& opened() override { return *opened_; }
  std::unique_ptr<Caller> new_caller() const override {
    return std::make_unique<MariadbCaller>(database_.url(), "utf8mb4");
  }
  std::unique_ptr<Caller> foreign_caller() const override {
    return std::make_unique<MariadbCaller>(database_.url(), "latin1");
  }
  std::unique_ptr<Caller> lost_caller() const override {
    return std::make_unique<MariadbCaller>(empty_.url(), "utf8mb4");
  }

 private:
  tests::FreshMariadb database_;
  tests::FreshMariadb empty_;
  NullLog log_;
  std::unique_ptr<OpenedStore> opened_ = must(mysql::open(database_.url(), log_));
};

}  // namespace

std::unique_ptr<LentServer> lent_postgres() { return std::make_unique<LentPostgres>(); }
std::unique_ptr<LentServer> lent_mariadb() { return std::make_unique<LentMariadb>(); }

}  // namespace recourse::store
