#include "store/postgres/postgres_store.h"

#include <chrono>
#include <utility>

#include "sql/postgres/connect.h"
#include "store/postgres/guest.h"
#include "store/postgres/hints.h"
#include "store/postgres/inbox.h"
#include "store/postgres/low_water.h"
#include "store/postgres/schema.h"
#include "store/postgres/transaction.h"
#include "store/relational/inbox.h"
#include "store/relational/migrations.h"
#include "store/transactional_cases.h"
#include "store/transactional_records.h"
#include "store/transactional_store.h"

namespace recourse::store::postgres {
namespace {

constexpr auto kOpeningMax = std::chrono::seconds(60);

class PostgresBackend final : public relational::PooledBackend {
 public:
  PostgresBackend(const std::string& url, const relational::PoolSizes& sizes)
      : PooledBackend(
            [url](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
              return sql::postgres::connect(url, deadline);
            },
            kDialect, sizes) {}

 protected:
  std::unique_ptr<Transaction> start(const relational::Seat& seat,
                                     relational::RelationalTransaction::Care care) override {
    return std::make_unique<PostgresTransaction>(seat, care, low_water_);
  }

 private:
  LowWater low_water_;
};

class OpenedPostgres final : public OpenedStore {
 public:
  OpenedPostgres(const std::string& url, Retention retention, const relational::PoolSizes& sizes)
      : url_(url),
        backend_(url, sizes),
        store_(backend_, retention),
        reader_(backend_),
        records_(backend_),
        cases_(backend_),
        creates_(backend_, url, sizes.guests),
        inbox_(backend_, backend_, std::move(retention), &find_marks) {}

  Store& store() override { return store_; }
  Reader& reader() override { return reader_; }
  Records& records() override { return records_; }
  Cases& cases() override { return cases_; }
  Creates& creates() override { return creates_; }
  Inbox& inbox() override { return inbox_; }
  std::unique_ptr<Hints> hints(const Hints::Heard& heard) override {
    return std::make_unique<PostgresHints>(url_, heard);
  }

 private:
  const std::string url_;
  PostgresBackend backend_;
  TransactionalStore store_;
  relational::RelationalReader reader_;
  TransactionalRecords records_;
  TransactionalCases cases_;
  PostgresCreates creates_;
  relational::RelationalInbox inbox_;
};

// Two nodes that start together take turns; the lock goes with the connection.
Result<> migrate_alone(sql::Connection& connection) {
  // The number is ours alone: "recourse" in ASCII.
  const Result<> locked =
      connection.query("SELECT pg_advisory_lock(8243122740717777765)", {}, [](const sql::Row&) {});
  if (!locked) return locked;
  return relational::migrate(connection, kCreateMeta, migrations());
}

}  // namespace

Result<std::unique_ptr<OpenedStore>> open(const std::string& url, Retention retention,
                                          relational::PoolSizes sizes) {
  auto connection = sql::postgres::connect(url, std::chrono::steady_clock::now() + kOpeningMax);
  if (!connection) return fail(connection.error());
  (*connection)->set_deadline(std::chrono::steady_clock::now() + kOpeningMax);
  if (Result<> migrated = migrate_alone(**connection); !migrated) return fail(migrated.error());
  return std::unique_ptr<OpenedStore>(
      std::make_unique<OpenedPostgres>(url, std::move(retention), sizes));
}

}  // namespace recourse::store::postgres
