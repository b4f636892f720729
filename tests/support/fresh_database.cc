#include "tests/support/fresh_database.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/log.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"
#include "store/mysql/mysql_store.h"
#include "store/mysql/transaction.h"
#include "store/postgres/inbox.h"
#include "store/postgres/low_water.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/transaction.h"
#include "store/relational/inbox.h"
#include "store/relational/pooled_backend.h"
#include "store/relational/reader.h"
#include "store/sqlite/dialect.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/writer.h"
#include "store/transactional_cases.h"
#include "store/transactional_creates.h"
#include "store/transactional_records.h"
#include "store/transactional_store.h"
#include "tests/support/migrated_database.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {
namespace {

using store::OpenedStore;
using store::relational::PooledBackend;
using store::relational::RelationalTransaction;
using store::relational::Seat;

const SystemClock kClock;
NullLog no_log;

sql::Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }

template <class T>
T opened(Result<T> result) {
  invariant(result.has_value(), result ? "" : std::string_view(result.error().message));
  return std::move(*result);
}

// Nobody is a guest where statements are only recorded.
class KeysAlone final : public store::TransactionalCreates {
 public:
  using TransactionalCreates::TransactionalCreates;

  Result<> transact(Duration, FunctionRef<Result<>(store::Guest&)>) override {
    return fail(ErrorCode::kInvalid, "this store has no guests");
  }
  Result<store::Acquired> create(const store::CreateAsk&, Duration, store::CreateWork) override {
    return fail(ErrorCode::kInvalid, "this store has no guests");
  }
};

// A store over a backend that the test made.
template <class Backend>
class Recorded final : public OpenedStore {
 public:
  Recorded(const std::string& where, Recorder& recorder, const store::Retention& retention)
      : backend_(where, recorder),
        store_(backend_, retention),
        reader_(backend_),
        records_(backend_),
        cases_(backend_),
        creates_(backend_),
        inbox_(backend_, backend_, retention, Backend::kFindMarks) {}

  store::Store& store() override { return store_; }
  store::Reader& reader() override { return reader_; }
  store::Records& records() override { return records_; }
  store::Cases& cases() override { return cases_; }
  store::Creates& creates() override { return creates_; }
  store::Inbox& inbox() override { return inbox_; }

 private:
  Backend backend_;
  store::TransactionalStore store_;
  store::relational::RelationalReader reader_;
  store::TransactionalRecords records_;
  store::TransactionalCases cases_;
  KeysAlone creates_;
  store::relational::RelationalInbox inbox_;
};

class RecordedPostgres final : public PooledBackend {
 public:
  static constexpr auto kFindMarks = &store::postgres::find_marks;

  RecordedPostgres(const std::string& url, Recorder& recorder)
      : PooledBackend(
            [url, &recorder](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
              auto connection = sql::postgres::connect(url, deadline);
              if (!connection) return fail(connection.error());
              return std::make_unique<RecordingPostgres>(std::move(**connection), recorder);
            },
            store::postgres::kDialect, {.work = 1, .reading = 1}) {}

 protected:
  std::unique_ptr<store::Transaction> start(const Seat& seat,
                                            RelationalTransaction::Care care) override {
    return std::make_unique<store::postgres::PostgresTransaction>(seat, care, low_water_);
  }

 private:
  store::postgres::LowWater low_water_{store::postgres::LowWater::Clock::duration::max()};
};

class RecordedMariadb final : public PooledBackend {
 public:
  static constexpr auto kFindMarks = &store::relational::find_marks;

  RecordedMariadb(const std::string& url, Recorder& recorder)
      : PooledBackend(
            [url, &recorder](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
              auto connection = sql::mysql::connect(url, deadline);
              if (!connection) return fail(connection.error());
              return std::make_unique<RecordingConnection>(std::move(*connection), recorder);
            },
            store::mysql::kDialect, {.work = 1, .reading = 1}) {}

 protected:
  std::unique_ptr<store::Transaction> start(const Seat& seat,
                                            RelationalTransaction::Care care) override {
    return std::make_unique<store::mysql::MysqlTransaction>(seat, care,
                                                            store::mysql::Flavour::kMariadb);
  }
};

// The writer, and beside it a connection for reading.
class RecordedSqlite final : public store::Backend, public store::relational::ReadingLine {
 public:
  static constexpr auto kFindMarks = &store::relational::find_marks;

  RecordedSqlite(const std::string& path, Recorder& recorder)
      : writer_(recording(path, sql::sqlite::Access::kWrite, recorder), kClock),
        reading_(recording(path, sql::sqlite::Access::kRead, recorder)) {}

  Result<> run(store::Line line, store::Repeat repeat, Duration within,
               FunctionRef<Result<>(store::Transaction&)> work) override {
    return writer_.run(line, repeat, within, work);
  }
  Result<> read(Duration, FunctionRef<Result<>(sql::Connection&)> work) override {
    return work(*reading_);
  }
  Result<TimePoint> now(sql::Connection&) override { return kClock.now(); }
  [[nodiscard]] const store::relational::Dialect& dialect() const override {
    return store::sqlite::kDialect;
  }

 private:
  static std::unique_ptr<sql::Connection> recording(const std::string& path,
                                                    sql::sqlite::Access access,
                                                    Recorder& recorder) {
    return std::make_unique<RecordingConnection>(opened(sql::sqlite::open(path, access)), recorder);
  }

  store::sqlite::Writer writer_;
  std::unique_ptr<sql::Connection> reading_;
};

class OnPostgres final : public FreshDatabase {
 public:
  [[nodiscard]] Database kind() const override { return Database::kPostgres; }
  std::unique_ptr<OpenedStore> open(const store::Retention& retention) override {
    return opened(store::postgres::open(database_.url(), retention));
  }
  std::unique_ptr<OpenedStore> open_recorded(Recorder& recorder,
                                             const store::Retention& retention) override {
    return std::make_unique<Recorded<RecordedPostgres>>(database_.url(), recorder, retention);
  }
  std::unique_ptr<sql::Connection> connect() override {
    return opened(sql::postgres::connect(database_.url(), soon()));
  }

 private:
  MigratedPostgres database_;
};

class OnMariadb final : public FreshDatabase {
 public:
  [[nodiscard]] Database kind() const override { return Database::kMariadb; }
  std::unique_ptr<OpenedStore> open(const store::Retention& retention) override {
    return opened(store::mysql::open(database_.url(), no_log, retention));
  }
  std::unique_ptr<OpenedStore> open_recorded(Recorder& recorder,
                                             const store::Retention& retention) override {
    return std::make_unique<Recorded<RecordedMariadb>>(database_.url(), recorder, retention);
  }
  std::unique_ptr<sql::Connection> connect() override {
    return opened(sql::mysql::connect(database_.url(), soon()));
  }

 private:
  FreshMariadb database_;
};

class OnSqlite final : public FreshDatabase {
 public:
  [[nodiscard]] Database kind() const override { return Database::kSqlite; }
  std::unique_ptr<OpenedStore> open(const store::Retention& retention) override {
    return opened(store::sqlite::open(path(), kClock, retention));
  }
  std::unique_ptr<OpenedStore> open_recorded(Recorder& recorder,
                                             const store::Retention& retention) override {
    return std::make_unique<Recorded<RecordedSqlite>>(path(), recorder, retention);
  }
  std::unique_ptr<sql::Connection> connect() override {
    return opened(sql::sqlite::open(path(), sql::sqlite::Access::kWrite));
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() / "store.db"; }

  TemporaryDirectory directory_;
};

}  // namespace

std::unique_ptr<FreshDatabase> fresh_database(Database kind) {
  switch (kind) {
    case Database::kPostgres: return std::make_unique<OnPostgres>();
    case Database::kMariadb: return std::make_unique<OnMariadb>();
    case Database::kSqlite: return std::make_unique<OnSqlite>();
  }
  std::abort();
}

}  // namespace recourse::tests
