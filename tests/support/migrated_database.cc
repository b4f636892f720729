#include "tests/support/migrated_database.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/stable_hash.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "store/mysql/mysql_store.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/schema.h"
#include "tests/support/stop_tests.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;

template <class T>
T opened(Result<T> result) {
  if (!result) stop_tests(result.error().message);
  return std::move(*result);
}

sql::Deadline soon() { return std::chrono::steady_clock::now() + 60s; }

// Says what is in it: another schema, another template.
std::string template_name() {
  std::string text;
  for (const auto& migration : store::postgres::migrations()) {
    for (const std::string_view step : migration.steps) text += step;
  }
  std::string name = "migrated_";
  for (const std::uint8_t byte : stable_hash(text)) name += fmt::format("{:02x}", byte);
  return name;
}

// By the first of all processes that needs it; it gets its name once it is complete.
void make_template(const std::string& name) {
  const auto lock = opened(sql::postgres::connect(postgres_url(), soon()));
  lock->set_deadline(soon());
  const auto ask = [&](const std::string& question, sql::OnRow on_row) {
    if (const auto asked = lock->query(question, {}, on_row); !asked)
      stop_tests(asked.error().message);
  };
  ask("SELECT pg_advisory_lock(4711)", [](const sql::Row&) {});
  std::int64_t found = 0;
  ask(fmt::format("SELECT COUNT(*) FROM pg_database WHERE datname = '{}'", name),
      [&](const sql::Row& row) { found = row.integer(0); });
  if (found > 0) return;
  const std::string unfinished = name + "_unfinished";
  run_on_postgres("DROP DATABASE IF EXISTS " + unfinished);
  run_on_postgres(fmt::format("CREATE DATABASE {} TEMPLATE template0", unfinished));
  opened(store::postgres::open(with_database(postgres_url(), unfinished))).reset();
  run_on_postgres(fmt::format("ALTER DATABASE {} RENAME TO {}", unfinished, name));
}

const std::string& migrated_template() {
  static const std::string name = [] {
    std::string made = template_name();
    make_template(made);
    return made;
  }();
  return name;
}

// Between two cases.
class Kept {
 public:
  std::unique_ptr<FreshMariadb> take() {
    {
      const MutexLock lock(mutex_);
      if (!kept_.empty()) {
        auto one = std::move(kept_.back());
        kept_.pop_back();
        return one;
      }
    }
    auto fresh = std::make_unique<FreshMariadb>();
    NullLog log;
    opened(store::mysql::open(fresh->url(), log)).reset();
    return fresh;
  }
  void give_back(std::unique_ptr<FreshMariadb> used) {
    empty(used->url());
    const MutexLock lock(mutex_);
    kept_.push_back(std::move(used));
  }

 private:
  static void empty(const std::string& url) {
    const auto connection = opened(sql::mysql::connect(url, soon()));
    std::vector<std::string> tables;
    const Result<> asked = connection->query(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", {},
        [&](const sql::Row& row) { tables.emplace_back(row.bytes(0)); });
    if (!asked) stop_tests(asked.error().message);
    std::string all;
    for (const std::string& table : tables) {
      all += table == "recourse_meta" ? "UPDATE recourse_meta SET value = 0 WHERE name <> 'schema';"
                                      : "DELETE FROM " + table + ";";
    }
    if (const Result<> done = connection->run(all); !done) stop_tests(done.error().message);
  }

  Mutex mutex_;
  std::vector<std::unique_ptr<FreshMariadb>> kept_ GUARDED_BY(mutex_);
};

Kept& kept() {
  static Kept all;
  return all;
}

}  // namespace

MigratedPostgres::MigratedPostgres() : FreshPostgres("", migrated_template()) {}

MigratedMariadb::MigratedMariadb() : database_(kept().take()) {}
MigratedMariadb::~MigratedMariadb() { kept().give_back(std::move(database_)); }
std::string MigratedMariadb::url() const { return database_->url(); }

}  // namespace recourse::tests
