#include "bench/store_sides.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "bench/store_mariadb_loop.h"
#include "bench/store_ours.h"
#include "bench/store_postgres_loop.h"
#include "bench/store_sqlite_loop.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "store/mysql/mysql_store.h"
#include "store/opened.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace recourse::bench {
namespace {

using store::OpenedStore;
using OpenLine = std::function<std::unique_ptr<Line>(std::uint64_t seed)>;

std::string unused_name() { return fmt::format("bench_{}_{}", getpid(), new_seed()); }

// The same server under another database.
std::string with_database(const std::string& server, const std::string& database) {
  const std::size_t path = server.find('/', server.find("://") + 3);
  return server.substr(0, path) + '/' + database +
         server.substr(std::min(server.find('?', path), server.size()));
}

// A database that is dropped in the end.
class ServerDatabase {
 public:
  using RunOnServer = std::function<void(const std::string& statement)>;

  ServerDatabase(const std::string& server, RunOnServer run, std::string drop_end)
      : run_(std::move(run)),
        name_(unused_name()),
        url_(with_database(server, name_)),
        drop_end_(std::move(drop_end)) {
    run_("CREATE DATABASE " + name_);
  }
  ~ServerDatabase() { run_("DROP DATABASE " + name_ + drop_end_); }
  ServerDatabase(const ServerDatabase&) = delete;
  ServerDatabase& operator=(const ServerDatabase&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  RunOnServer run_;
  std::string name_;
  std::string url_;
  std::string drop_end_;
};

class SqliteFile {
 public:
  SqliteFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "recourse-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) give_up("no folder can be made for the SQLite file");
    folder_ = pattern;
  }
  ~SqliteFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  [[nodiscard]] std::string url() const { return (folder_ / "store.db").string(); }

 private:
  std::filesystem::path folder_;
};

std::string engine_url(const SqliteFile& file) { return "sqlite:" + file.url(); }
std::string engine_url(const ServerDatabase& database) { return database.url(); }

template <class Database>
class LoopSide final : public Side {
 public:
  using Open = std::unique_ptr<Line> (*)(const std::string& url, std::uint64_t seed);
  LoopSide(std::unique_ptr<Database> database, Open open)
      : database_(std::move(database)), open_(open) {}

  std::unique_ptr<Line> line() override { return open_(database_->url(), new_seed()); }
  [[nodiscard]] std::string url() const override { return engine_url(*database_); }

 private:
  std::unique_ptr<Database> database_;
  Open open_;
};

template <class Database>
class OurSide final : public Side {
 public:
  OurSide(std::unique_ptr<Database> database, std::unique_ptr<OpenedStore> opened)
      : database_(std::move(database)), opened_(std::move(opened)) {}

  std::unique_ptr<Line> line() override { return line_on(opened_->store(), new_seed()); }
  [[nodiscard]] std::string url() const override { return engine_url(*database_); }

 private:
  std::unique_ptr<Database> database_;  // first: dropped after the store is closed
  std::unique_ptr<OpenedStore> opened_;
};

using OpenStore = std::function<std::unique_ptr<OpenedStore>(const std::string&, std::size_t)>;

template <class Database>
Contest contest(const std::string& name, const std::vector<std::size_t>& connections,
                std::size_t tasks, const std::function<std::unique_ptr<Database>()>& fresh,
                const OpenStore& open, const typename LoopSide<Database>::Open& loop) {
  return {.name = name,
          .connections = connections,
          .tasks = tasks,
          .limit = [fresh, open, loop]() -> std::unique_ptr<Side> {
            std::unique_ptr<Database> database = fresh();
            open(database->url(), 1);  // for its tables
            return std::make_unique<LoopSide<Database>>(std::move(database), loop);
          },
          .ours = [fresh, open](std::size_t lines) -> std::unique_ptr<Side> {
            std::unique_ptr<Database> database = fresh();
            std::unique_ptr<OpenedStore> opened = open(database->url(), lines);
            return std::make_unique<OurSide<Database>>(std::move(database), std::move(opened));
          }};
}

Contest sqlite_contest() {
  static const SystemClock clock;
  return contest<SqliteFile>(
      "sqlite", {1}, 20'000, [] { return std::make_unique<SqliteFile>(); },
      [](const std::string& path, std::size_t) -> std::unique_ptr<OpenedStore> {
        return must(store::sqlite::open(path, clock));
      },
      &sqlite_loop);
}

Contest postgres_contest(const std::string& server) {
  const auto run = [server](const std::string& statement) {
    must(must(sql::postgres::connect(server, std::chrono::steady_clock::now() + kPatience))
             ->run(statement));
  };
  return contest<ServerDatabase>(
      "postgres", {1, 2, 4}, 10'000,
      [server, run] { return std::make_unique<ServerDatabase>(server, run, " WITH (FORCE)"); },
      [](const std::string& url, std::size_t lines) {
        return must(store::postgres::open(url, {}, {.work = lines, .reading = 1}));
      },
      &postgres_loop);
}

Contest mariadb_contest(const std::string& server) {
  static NullLog log;
  const auto run = [server](const std::string& statement) {
    must(must(sql::mysql::connect(server, std::chrono::steady_clock::now() + kPatience))
             ->run(statement));
  };
  return contest<ServerDatabase>(
      "mariadb", {1, 2, 4}, 6'000,
      [server, run] { return std::make_unique<ServerDatabase>(server, run, ""); },
      [](const std::string& url, std::size_t lines) {
        return must(store::mysql::open(url, log, {}, {.work = lines, .reading = 1}));
      },
      &mariadb_loop);
}

}  // namespace

std::vector<Contest> contests() {
  std::vector<Contest> all{sqlite_contest()};
  const char* postgres = std::getenv("RECOURSE_BENCH_POSTGRES");
  const char* mariadb = std::getenv("RECOURSE_BENCH_MARIADB");
  if (postgres == nullptr || mariadb == nullptr) {
    give_up(
        "RECOURSE_BENCH_POSTGRES and RECOURSE_BENCH_MARIADB name no servers: ./dev bench store"
        " starts them");
  }
  all.push_back(postgres_contest(postgres));
  all.push_back(mariadb_contest(mariadb));
  return all;
}

}  // namespace recourse::bench
