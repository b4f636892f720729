// ./dev bench create: what it costs to create exactly once, on PostgreSQL and SQLite.
//
// Callers create orders, each under a new key, with REQUIRES_NEW: the key is taken, the order's row
// is inserted and both are committed. Beside it, in turns, what somebody would write by hand: one
// transaction that inserts the row and the key, with prepared statements on libpq (a connection for
// each caller) and on SQLite (one connection, taken in turns). Medians of five runs. --seconds N
// says how long a run takes.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/public_id.h"
#include "base/ulid_source.h"
#include "bench/report.h"
#include "bench/store_line.h"
#include "recourse/create.h"
#include "tests/support/temporary_directory.h"

namespace recourse::bench {
namespace {

using Stopwatch = std::chrono::steady_clock;

constexpr int kRuns = 5;
constexpr std::array kCallers{1, 8, 32};

SystemClock wall;
UlidSource ids(wall, new_seed());
const std::string kHash = request_hash("{}").value();

struct Order {
  Ulid id = ids.next();
  std::string public_id = to_string(PublicId{"ord", id});
  std::string key = to_string(ids.next());

  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
  }
};

// One side: what a caller's thread does, again and again.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::function<void()> caller() = 0;
};

class Ours final : public Contender {
 public:
  Ours(const std::string& url, const char* table)
      : engine_(must(Engine::open({.store = url, .node = "bench"}))), create_(engine_) {
    must(create_.transact(std::chrono::seconds(5), [&](CreateTransaction& own) -> Result<> {
      const auto made = own.execute(table);
      return made ? Result<>() : fail(made.error());
    }));
  }

  std::function<void()> caller() override {
    return [this] {
      const std::string key = to_string(ids.next());
      (void)must(create_.run_bytes(
          {.tenant = 7,
           .business_type = "ORDER_CREATE",
           .resource_type = "ord",
           .key = key,
           .request_hash = kHash},
          [&](CreateTransaction& own, const NewResource& order) -> Result<std::string> {
            const auto placed =
                own.execute("INSERT INTO shop_order (id, public_id, idem_key) VALUES (?, ?, ?)",
                            {order.internal_id, order.public_id, key});
            if (!placed) return fail(placed.error());
            return std::string("{}");
          }));
    };
  }

 private:
  Engine engine_;
  Create create_;
};

class PostgresByHand final : public Contender {
 public:
  explicit PostgresByHand(std::string url) : url_(std::move(url)) {
    const Handle handle = connect();
    run(handle.get(),
        "CREATE TABLE hand_order (id bytea PRIMARY KEY, public_id text UNIQUE, "
        "idem_key text)");
    run(handle.get(),
        "CREATE TABLE hand_key (tenant bigint, business text, idem_key text, request_hash text,"
        " state text, result_ref text, result_json text, created_at bigint, expires_at bigint,"
        " PRIMARY KEY (tenant, business, idem_key))");
    run(handle.get(), "CREATE INDEX ON hand_key (expires_at)");
  }

  std::function<void()> caller() override {
    const auto handle = std::shared_ptr<PGconn>(connect().release(), PQfinish);
    prepare(handle.get(), "o", "INSERT INTO hand_order VALUES ($1, $2, $3)");
    prepare(handle.get(), "k",
            "INSERT INTO hand_key VALUES (7, 'ORDER_CREATE', $1, $2, 'succeeded', $3, '{}', 1, 2)");
    return [handle] {
      const Order order;
      run(handle.get(), "BEGIN");
      const std::array<const char*, 3> row{order.bytes().data(), order.public_id.c_str(),
                                           order.key.c_str()};
      const std::array<int, 3> lengths{16, 0, 0};
      const std::array<int, 3> formats{1, 0, 0};
      check(PQexecPrepared(handle.get(), "o", 3, row.data(), lengths.data(), formats.data(), 0));
      const std::array<const char*, 3> key{order.key.c_str(), kHash.c_str(),
                                           order.public_id.c_str()};
      check(PQexecPrepared(handle.get(), "k", 3, key.data(), nullptr, nullptr, 0));
      run(handle.get(), "COMMIT");
    };
  }

 private:
  struct Finish {
    void operator()(PGconn* handle) const { PQfinish(handle); }
  };
  using Handle = std::unique_ptr<PGconn, Finish>;

  [[nodiscard]] Handle connect() const { return Handle(PQconnectdb(url_.c_str())); }
  static void check(PGresult* result) {
    if (PQresultStatus(result) != PGRES_COMMAND_OK) give_up(PQresultErrorMessage(result));
    PQclear(result);
  }
  static void run(PGconn* handle, const char* statement) { check(PQexec(handle, statement)); }
  static void prepare(PGconn* handle, const char* name, const char* statement) {
    check(PQprepare(handle, name, statement, 0, nullptr));
  }

  const std::string url_;
};

class SqliteByHand final : public Contender {
 public:
  explicit SqliteByHand(const std::string& path) {
    check(sqlite3_open(path.c_str(), &handle_));
    check(sqlite3_exec(
        handle_,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE hand_order (id BLOB PRIMARY KEY, public_id TEXT UNIQUE, idem_key TEXT)"
        " WITHOUT ROWID;"
        "CREATE TABLE hand_key (tenant INTEGER, business TEXT, idem_key TEXT, request_hash TEXT,"
        " state TEXT, result_ref TEXT, result_json TEXT, created_at INTEGER, expires_at INTEGER,"
        " PRIMARY KEY (tenant, business, idem_key)) WITHOUT ROWID;"
        "CREATE INDEX hand_end ON hand_key (expires_at)",
        nullptr, nullptr, nullptr));
    check(sqlite3_prepare_v2(handle_, "INSERT INTO hand_order VALUES (?, ?, ?)", -1, &order_,
                             nullptr));
    check(sqlite3_prepare_v2(
        handle_,
        "INSERT INTO hand_key VALUES (7, 'ORDER_CREATE', ?, ?, 'succeeded', ?, '{}', 1, 2)", -1,
        &key_, nullptr));
  }
  ~SqliteByHand() override {
    sqlite3_finalize(order_);
    sqlite3_finalize(key_);
    sqlite3_close(handle_);
  }
  SqliteByHand(const SqliteByHand&) = delete;
  SqliteByHand& operator=(const SqliteByHand&) = delete;

  std::function<void()> caller() override {
    return [this] {
      const Order order;
      const std::lock_guard lock(mutex_);
      run("BEGIN IMMEDIATE");
      sqlite3_bind_blob(order_, 1, order.bytes().data(), 16, SQLITE_STATIC);
      bind(order_, 2, order.public_id);
      bind(order_, 3, order.key);
      step(order_);
      bind(key_, 1, order.key);
      bind(key_, 2, kHash);
      bind(key_, 3, order.public_id);
      step(key_);
      run("COMMIT");
    };
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) give_up(sqlite3_errmsg(handle_));
  }
  void run(const char* statement) const {
    check(sqlite3_exec(handle_, statement, nullptr, nullptr, nullptr));
  }
  static void bind(sqlite3_stmt* statement, int index, const std::string& text) {
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void step(sqlite3_stmt* statement) const {
    if (sqlite3_step(statement) != SQLITE_DONE) give_up(sqlite3_errmsg(handle_));
    sqlite3_reset(statement);
  }

  sqlite3* handle_ = nullptr;
  sqlite3_stmt* order_ = nullptr;
  sqlite3_stmt* key_ = nullptr;
  std::mutex mutex_;
};

// Creates a second.
double measure(Contender& contender, int callers, Duration time) {
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> done = 0;
  std::vector<std::thread> crew;
  for (int i = 0; i < callers; ++i) {
    crew.emplace_back([&, call = contender.caller()] {
      while (!stop) {
        call();
        ++done;
      }
    });
  }
  std::this_thread::sleep_for(time / 5);  // until it runs evenly
  const std::int64_t before = done;
  const auto start = Stopwatch::now();
  std::this_thread::sleep_for(time);
  const double rate = static_cast<double>(done - before) /
                      std::chrono::duration<double>(Stopwatch::now() - start).count();
  stop = true;
  for (std::thread& one : crew) one.join();
  return rate;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<Figure> compare(const std::string& store, Contender& ours, Contender& by_hand,
                            Duration time) {
  std::vector<Figure> figures;
  for (const int callers : kCallers) {
    std::vector<double> mine;
    std::vector<double> theirs;
    for (int i = 0; i < kRuns; ++i) {
      theirs.push_back(measure(by_hand, callers, time));
      mine.push_back(measure(ours, callers, time));
    }
    const double ratio = median(mine) / median(theirs);
    figures.push_back(
        {.bench = "create",
         .name = fmt::format("{}, {} caller{}", store, callers, callers == 1 ? "" : "s"),
         .value = median(mine),
         .unit = "creates/s",
         .comparison = Comparison{"one transaction by hand", ratio},
         .goal = "0.6 of by hand",
         .met = ratio >= 0.6});
  }
  return figures;
}

Duration time_of(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--seconds") {
    return std::chrono::seconds(std::clamp(std::atoi(argv[2]), 1, 600));
  }
  if (argc != 1) give_up("it takes --json, and --seconds N, 1 to 600");
  return std::chrono::seconds(1);
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  const Duration time = time_of(argc, argv);
  const tests::TemporaryDirectory folder;
  std::vector<Figure> figures;
  {
    Ours ours("sqlite:" + (folder.path() / "ours.db").string(),
              "CREATE TABLE shop_order (id BLOB PRIMARY KEY, public_id TEXT UNIQUE, idem_key TEXT)"
              " WITHOUT ROWID");
    SqliteByHand by_hand((folder.path() / "hand.db").string());
    figures = compare("SQLite", ours, by_hand, time);
  }
  const char* url = std::getenv("RECOURSE_BENCH_POSTGRES");
  if (url == nullptr) give_up("RECOURSE_BENCH_POSTGRES has no URL: use ./dev bench create");
  Ours ours(url,
            "CREATE TABLE shop_order (id bytea PRIMARY KEY, public_id text UNIQUE, idem_key "
            "text)");
  PostgresByHand by_hand(url);
  std::ranges::move(compare("PostgreSQL", ours, by_hand, time), std::back_inserter(figures));
  print(figures, format);
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
