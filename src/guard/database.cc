#include "guard/database.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "guard/guest_connection.h"
#include "guard/mysql/dialect.h"
#include "guard/postgres/dialect.h"
#include "guard/sqlite/dialect.h"
#include "sql/mysql/connect.h"
#include "sql/pool.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/file_lock.h"
#include "store/countdown.h"

namespace recourse::guard {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
// Of a guard's runs few are at the database at once.
constexpr std::size_t kConnections = 6;

class ServerDatabase final : public Database {
 public:
  ServerDatabase(sql::Pool::Connect connect, const Dialect& dialect)
      : dialect_(dialect), pool_(std::move(connect), kConnections) {}

  [[nodiscard]] const Dialect& dialect() const override { return dialect_; }

  Result<> use(Duration within, Work work) override {
    const sql::Deadline deadline = store::deadline_of(within);
    Result<sql::Pool::Loan> loan = pool_.borrow(deadline);
    if (!loan) return fail(loan.error());
    loan->connection().set_deadline(deadline);
    Result<> done = work(loan->connection());
    // A session that has become read-only stays so after the primary has moved, and one that has
    // prepared statements for a table keeps them when somebody changes its columns.
    if (!done && (done.error().code == ErrorCode::kUnavailable ||
                  done.error().code == ErrorCode::kInvalid)) {
      loan->discard();
    }
    return done;
  }

  Result<> use_once(Duration within, Work work) override {
    const sql::Deadline deadline = store::deadline_of(within);
    Result<sql::Pool::Loan> loan = pool_.borrow(deadline);
    if (!loan) return fail(loan.error());
    loan->connection().set_deadline(deadline);
    loan->discard();
    return work(loan->connection());
  }

 private:
  const Dialect& dialect_;
  sql::Pool pool_;
};

// One connection for everything: a second one could write at the same time, which SQLite's
// write-ahead log has not always survived.
class FileDatabase final : public Database {
 public:
  FileDatabase(sql::sqlite::FileLock lock, std::unique_ptr<sql::Connection> connection)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}

  [[nodiscard]] const Dialect& dialect() const override { return sqlite::dialect(); }

  Result<> use(Duration within, Work work) override {
    const sql::Deadline deadline = store::deadline_of(within);
    MutexLock lock(mutex_);
    // Whoever else waits for the file only looks now and then whether it is free.
    std::this_thread::sleep_until(free_until_);
    const auto begun = std::chrono::steady_clock::now();
    connection_->set_deadline(deadline);
    Result<> done = work(*connection_);
    const auto ended = std::chrono::steady_clock::now();
    free_until_ =
        ended + std::min<std::chrono::steady_clock::duration>(ended - begun, kLongestRest);
    return done;
  }
  [[nodiscard]] Commits commits() const override { return Commits::kEachSweep; }
  Result<> use_once(Duration within, Work work) override { return use(within, work); }

 private:
  // The file is the application's: it has it for at least as long as we had it.
  static constexpr std::chrono::milliseconds kLongestRest{100};

  sql::sqlite::FileLock lock_;  // first: released last
  Mutex mutex_;
  std::chrono::steady_clock::time_point free_until_ GUARDED_BY(mutex_);
  std::unique_ptr<sql::Connection> connection_ GUARDED_BY(mutex_);
};

class StoreDatabase final : public Database {
 public:
  explicit StoreDatabase(store::Creates& creates) : creates_(creates) {}

  [[nodiscard]] const Dialect& dialect() const override { return sqlite::dialect(); }

  Result<> use(Duration within, Work work) override {
    return creates_.transact(within, [&](store::Guest& guest) {
      GuestConnection connection(guest);
      return work(connection);
    });
  }
  [[nodiscard]] Commits commits() const override { return Commits::kEachUse; }
  Result<> use_once(Duration within, Work work) override { return use(within, work); }

 private:
  store::Creates& creates_;
};

Result<std::unique_ptr<Database>> open_file(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::canonical(path, unknown);
  if (unknown) {
    return fail(ErrorCode::kInvalid, "there is no SQLite file " + path +
                                         ": a guard watches a table that is there already; correct "
                                         "the path");
  }
  auto lock = sql::sqlite::FileLock::take(real.string());
  if (!lock) return fail(lock.error());
  auto connection = sql::sqlite::open(real.string(), sql::sqlite::Access::kForeign);
  if (!connection) return fail(connection.error());
  return std::make_unique<FileDatabase>(std::move(*lock), std::move(*connection));
}

}  // namespace

std::string place_of(const std::string& url) {
  if (!url.starts_with(kSqlite)) return url;
  std::error_code unknown;
  const auto real = std::filesystem::canonical(url.substr(kSqlite.size()), unknown);
  return unknown ? url : std::string(kSqlite) + real.string();
}

Result<std::unique_ptr<Database>> open_database(const std::string& url) {
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size())
    return open_file(url.substr(kSqlite.size()));
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
    return std::make_unique<ServerDatabase>(
        [url](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
          auto opened = sql::postgres::connect(url, deadline, {.lock_timeout = kLockWait});
          if (!opened) return fail(opened.error());
          return std::unique_ptr<sql::Connection>(*std::move(opened));
        },
        postgres::dialect());
  }
  if (url.starts_with("mysql://") || url.starts_with("mariadb://")) {
    return std::make_unique<ServerDatabase>(
        [url](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
          auto opened = sql::mysql::connect(url, deadline, kLockWait);
          if (!opened) return fail(opened.error());
          return std::unique_ptr<sql::Connection>(*std::move(opened));
        },
        mysql::dialect());
  }
  // Not the URL itself: it may hold a password.
  return fail(ErrorCode::kInvalid,
              "a guard's database must be sqlite:FILE, postgres://USER@HOST/DATABASE or "
              "mysql://USER@HOST/DATABASE");
}

std::unique_ptr<Database> database_of(store::Creates& creates) {
  return std::make_unique<StoreDatabase>(creates);
}

}  // namespace recourse::guard
