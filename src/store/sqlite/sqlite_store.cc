#include "store/sqlite/sqlite_store.h"

#include <filesystem>
#include <utility>

#include "sql/pool.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/file_lock.h"
#include "store/countdown.h"
#include "store/relational/inbox.h"
#include "store/relational/migrations.h"
#include "store/relational/reader.h"
#include "store/sqlite/dialect.h"
#include "store/sqlite/guest.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"
#include "store/transactional_cases.h"
#include "store/transactional_records.h"
#include "store/transactional_store.h"

namespace recourse::store::sqlite {
namespace {

constexpr std::size_t kReadersMax = 4;

// Connections that only read; in a write-ahead log they see a snapshot and block nobody.
class Readers final : public relational::ReadingLine {
 public:
  Readers(const std::string& path, const Clock& clock)
      : pool_([path](sql::Deadline) { return sql::sqlite::open(path, sql::sqlite::Access::kRead); },
              kReadersMax),
        clock_(clock) {}

  Result<> read(Duration within, FunctionRef<Result<>(sql::Connection&)> work) override {
    const sql::Deadline deadline = deadline_of(within);
    const Result<sql::Pool::Loan> loan = pool_.borrow(deadline);
    if (!loan) return fail(loan.error());
    loan->connection().set_deadline(deadline);
    return work(loan->connection());
  }

  Result<TimePoint> now(sql::Connection&) override { return clock_.now(); }
  [[nodiscard]] const relational::Dialect& dialect() const override { return kDialect; }

 private:
  sql::Pool pool_;
  const Clock& clock_;
};

class OpenedSqlite final : public OpenedStore {
 public:
  OpenedSqlite(sql::sqlite::FileLock lock, std::unique_ptr<sql::Connection> connection,
               const std::string& path, const Clock& clock, Retention retention)
      : lock_(std::move(lock)),
        writer_(std::move(connection), clock),
        readers_(path, clock),
        store_(writer_, retention),
        reader_(readers_),
        records_(writer_),
        cases_(writer_),
        creates_(writer_),
        inbox_(writer_, readers_, std::move(retention)) {}

  Store& store() override { return store_; }
  Reader& reader() override { return reader_; }
  Records& records() override { return records_; }
  Cases& cases() override { return cases_; }
  Creates& creates() override { return creates_; }
  Inbox& inbox() override { return inbox_; }

 private:
  sql::sqlite::FileLock lock_;  // first: released last
  Writer writer_;
  Readers readers_;
  TransactionalStore store_;
  relational::RelationalReader reader_;
  TransactionalRecords records_;
  TransactionalCases cases_;
  SqliteCreates creates_;
  relational::RelationalInbox inbox_;
};

}  // namespace

Result<std::unique_ptr<OpenedStore>> open(const std::string& path, const Clock& clock,
                                          Retention retention) {
  // By its real name: under a link to it the file would have a second lock.
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, unknown);
  Result<sql::sqlite::FileLock> lock = sql::sqlite::FileLock::take(unknown ? path : real.string());
  if (!lock) return fail(lock.error());
  auto connection = sql::sqlite::open(path, sql::sqlite::Access::kWrite);
  if (!connection) return fail(connection.error());
  if (Result<> migrated = relational::migrate(**connection, kCreateMeta, migrations()); !migrated) {
    return fail(migrated.error());
  }
  // We hold the lock, so whoever held the file before is gone.
  const Result<> buried = (*connection)->run("UPDATE recourse_node SET dead = 1 WHERE dead = 0");
  if (!buried) return fail(buried.error());
  return std::unique_ptr<OpenedStore>(std::make_unique<OpenedSqlite>(
      std::move(*lock), std::move(*connection), path, clock, std::move(retention)));
}

}  // namespace recourse::store::sqlite
