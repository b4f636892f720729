#include "store/mysql/mysql_store.h"

#include <chrono>
#include <utility>

#include "sql/mysql/connect.h"
#include "store/mysql/guest.h"
#include "store/mysql/schema.h"
#include "store/mysql/transaction.h"
#include "store/relational/inbox.h"
#include "store/relational/migrations.h"
#include "store/transactional_cases.h"
#include "store/transactional_records.h"
#include "store/transactional_store.h"

namespace recourse::store::mysql {
namespace {

constexpr auto kOpeningMax = std::chrono::seconds(60);

class MysqlBackend final : public relational::PooledBackend {
 public:
  MysqlBackend(const std::string& url, Flavour flavour, const relational::PoolSizes& sizes)
      : PooledBackend(
            [url](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
              return sql::mysql::connect(url, deadline);
            },
            kDialect, sizes),
        flavour_(flavour) {}

 protected:
  std::unique_ptr<Transaction> start(const relational::Seat& seat,
                                     relational::RelationalTransaction::Care care) override {
    return std::make_unique<MysqlTransaction>(seat, care, flavour_);
  }

 private:
  Flavour flavour_;
};

class OpenedMysql final : public OpenedStore {
 public:
  OpenedMysql(const std::string& url, Flavour flavour, Retention retention,
              const relational::PoolSizes& sizes)
      : backend_(url, flavour, sizes),
        store_(backend_, retention),
        reader_(backend_),
        records_(backend_),
        cases_(backend_),
        creates_(backend_, url, sizes.guests),
        inbox_(backend_, backend_, std::move(retention)) {}

  Store& store() override { return store_; }
  Reader& reader() override { return reader_; }
  Records& records() override { return records_; }
  Cases& cases() override { return cases_; }
  Creates& creates() override { return creates_; }
  Inbox& inbox() override { return inbox_; }

 private:
  MysqlBackend backend_;
  TransactionalStore store_;
  relational::RelationalReader reader_;
  TransactionalRecords records_;
  TransactionalCases cases_;
  MysqlCreates creates_;
  relational::RelationalInbox inbox_;
};

// Two nodes that start together take turns; the lock goes with the connection.
Result<> migrate_alone(sql::Connection& connection) {
  bool locked = false;
  const Result<> asked = connection.query(
      "SELECT GET_LOCK('recourse_schema', 50)", {},
      [&](const sql::Row& row) { locked = !row.is_null(0) && row.integer(0) == 1; });
  if (!asked) return asked;
  if (!locked) {
    return fail(ErrorCode::kUnavailable,
                "another node has been changing the schema for 50 seconds; try again when it is "
                "done");
  }
  return relational::migrate(connection, kCreateMeta, migrations());
}

}  // namespace

Result<std::unique_ptr<OpenedStore>> open(const std::string& url, Log& log, Retention retention,
                                          relational::PoolSizes sizes) {
  auto connection = sql::mysql::connect(url, std::chrono::steady_clock::now() + kOpeningMax);
  if (!connection) return fail(connection.error());
  if ((*connection)->server().is_galera) {
    log.warning("store_galera", {{"advice",
                                  "write to one node of the cluster only: with several "
                                  "writers it loses updates"}});
  }
  if (Result<> migrated = migrate_alone(**connection); !migrated) return fail(migrated.error());
  const Flavour flavour = (*connection)->server().is_mariadb ? Flavour::kMariadb : Flavour::kMysql;
  return std::unique_ptr<OpenedStore>(
      std::make_unique<OpenedMysql>(url, flavour, std::move(retention), sizes));
}

}  // namespace recourse::store::mysql
