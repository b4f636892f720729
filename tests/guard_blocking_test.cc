// How long whoever owns a table waits for us while it is given its columns and indexes, and
// scanned.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "tests/guard_cost_fixture.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

// The first rows; one of the writers knows only these.
constexpr std::int64_t kInTrouble = 2'000;

class GuardBlocking : public OnLargeTable {};
INSTANTIATE_TEST_SUITE_P(, GuardBlocking, kGuardDatabases, guard_database_name);

// Writes as an application does, in short transactions, and remembers its longest wait.
class Writer {
 public:
  Writer(const std::string& url, const std::string& table, std::int64_t rows, unsigned seed)
      : statement_("UPDATE " + table + " SET amount = amount + 1 WHERE id = ?"),
        thread_([this, url, rows, seed](const std::stop_token& stop) {
          auto connection = connect_to(url);
          std::mt19937 random(seed);
          while (!stop.stop_requested())
            step(*connection, static_cast<std::int64_t>(random()) % rows + 1);
        }) {}

  // Since it was last asked.
  Duration longest() { return Duration(longest_.exchange(0)); }
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  void step(sql::Connection& connection, std::int64_t id) {
    const sql::Value value = id;
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(connection.begin());
    const auto written = connection.execute(statement_, std::span(&value, 1));
    ASSERT_TRUE(written) << written.error().message;
    if (++steps_ % 5 == 0) {
      connection.rollback();
    } else {
      ASSERT_TRUE(connection.commit());
    }
    const auto took =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begin);
    if (took.count() > longest_) longest_ = took.count();
    std::this_thread::sleep_for(1ms);
  }

  const std::string statement_;
  std::atomic<Duration::rep> longest_ = 0;
  std::atomic<std::int64_t> steps_ = 0;
  std::jthread thread_;  // last
};

// What we may make an application wait, on a machine that makes it wait for so long by itself.
Duration allowed(Duration alone) { return alone < 10ms ? 50ms : 50ms + alone * 2; }

void write_on(const Writer& one, const Writer& two, std::int64_t steps) {
  const std::int64_t first = one.steps() + steps;
  const std::int64_t second = two.steps() + steps;
  ASSERT_TRUE(eventually([&] { return one.steps() >= first && two.steps() >= second; }, 60s));
}

// What nodes do with rows in trouble, rather more quickly than they would: each is healed, or run
// and written back, or given to a person, of whom somebody is told.
void look_after_rows(GuardedTable& table) {
  for (int batch = 0; batch < 20; ++batch) {
    ASSERT_TRUE(table.heal(200, 30s));
    const auto due = table.due(200, 30s).value();
    for (const RowId& id : due) {
      const auto answer = table.claim(id, 20s, 30s).value();
      if (!answer.claim) continue;
      const bool is_mended = std::get<std::int64_t>(id) % 2 == 0;
      if (is_mended) {
        ASSERT_TRUE(table.succeeded(*answer.claim, 30s).value());
      } else {
        ASSERT_TRUE(table.failed(*answer.claim, 30s).value());
      }
    }
    ASSERT_TRUE(table.promote(200, 30s));
    const auto taken = table.take_reminders(200, 30s, 30s).value();
    for (const auto& claim : taken) ASSERT_TRUE(table.reminded(claim, true, 30s).value());
  }
}

// Columns, indexes, scans and write-backs beside an application, which writes to the same rows.
// What the machine itself makes it wait is measured before and after, and is not ours.
TEST_P(GuardBlocking, AnApplicationIsNeverBlockedForLong) {
  if (!is_measuring()) GTEST_SKIP() << kMeasuredInFull;
  if (is_sqlite()) GTEST_SKIP() << "a file has one writer at a time";
  make_bills();
  fill(1'000'000);
  run("CREATE TABLE neighbour (id BIGINT PRIMARY KEY, amount INT)");
  run("INSERT INTO neighbour SELECT id, amount FROM user_bill WHERE id <= 1000");
  Writer one(place_.url(), "user_bill", rows_, 1);
  Writer two(place_.url(), "user_bill", kInTrouble, 2);
  // No lock of ours stops it: what it waits too is the server, busy with an index or a checkpoint.
  Writer neighbour(place_.url(), "neighbour", 1'000, 3);
  write_on(one, two, 1'000);
  const Duration before = std::max(one.longest(), two.longest());

  (void)neighbour.longest();
  const auto begin = std::chrono::steady_clock::now();
  const auto table = open();
  const Result<> ensured = add_all(*table, 5min);
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(ensured) << ensured.error().message;
  const Duration adding = std::max(one.longest(), two.longest());
  const Duration server = neighbour.longest();
  stick();
  // Whoever waited for a row of the update above has told so by now.
  write_on(one, two, 5);
  (void)one.longest(), (void)two.longest();
  for (int i = 0; i < 20; ++i) scan(*table);
  const Duration scanning = std::max(one.longest(), two.longest());
  run(fmt::format(
      "UPDATE user_bill SET status = CASE id % 5 WHEN 0 THEN 'SUCCESS' ELSE 'FAIL' END, "
      "err_status = 4000 + id % 2, err_start_time = NULL, err_next_retry_time = NULL, "
      "err_next_remind_staff_time = NULL WHERE id <= {}",
      kInTrouble));
  write_on(one, two, 5);
  (void)one.longest(), (void)two.longest();
  look_after_rows(*table);
  const Duration writing = std::max(one.longest(), two.longest());
  write_on(one, two, 1'000);
  const Duration alone = std::max({before, one.longest(), two.longest()});

  fmt::print(
      "{}: the application waited at most {} us alone, {} us while columns and indexes were "
      "added (in {} ms; {} us at another table), {} us beside scans, {} us beside rows that were "
      "run\n",
      GetParam(), alone.count(), adding.count(), took / 1ms, server.count(), scanning.count(),
      writing.count());
  const Duration most = allowed(alone);
  EXPECT_LE(adding, most);
  EXPECT_LE(scanning, most);
  EXPECT_LE(writing, most);
}

// What a guard sends, as counted where the test above measures.
struct Sent {
  // The most in one transaction; a statement outside of one counts as one.
  std::int64_t statements = 0;
  std::int64_t rows = 0;
  // Settings and changes of the table, in their order.
  std::vector<std::string> scripts;
};

// Counts, and passes everything on.
class CountedConnection final : public sql::Connection {
 public:
  CountedConnection(sql::Connection& inner, Sent& sent) : inner_(inner), sent_(sent) {}

  void set_deadline(sql::Deadline deadline) override { inner_.set_deadline(deadline); }
  Result<> set_lock_patience(Duration patience) override {
    return inner_.set_lock_patience(patience);
  }
  Result<> set_idle_limit(Duration limit) override { return inner_.set_idle_limit(limit); }
  [[nodiscard]] int socket() const override { return inner_.socket(); }
  Result<> begin() override {
    is_open_ = true;
    return inner_.begin();
  }
  Result<> commit() override {
    end();
    return inner_.commit();
  }
  void rollback() override {
    end();
    inner_.rollback();
  }
  Result<std::int64_t> execute(std::string_view statement,
                               std::span<const sql::Value> values) override {
    auto rows = inner_.execute(statement, values);
    count(rows.value_or(0));
    return rows;
  }
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const sql::Value> values) override {
    auto rows = inner_.execute_many(statement, columns, values);
    count(rows.value_or(0));
    return rows;
  }
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const sql::Value> values) override {
    count(static_cast<std::int64_t>(values.size() / std::max<std::size_t>(columns, 1)));
    return inner_.execute_later(statement, columns, values);
  }
  Result<> query(std::string_view statement, std::span<const sql::Value> values,
                 sql::OnRow on_row) override {
    const bool is_locking = statement.find("FOR UPDATE") != std::string_view::npos;
    std::int64_t locked = 0;
    const Result<> asked = inner_.query(statement, values, [&](const sql::Row& row) {
      locked += is_locking ? 1 : 0;
      on_row(row);
    });
    count(locked);
    return asked;
  }
  Result<> run(std::string_view statement) override {
    sent_.scripts.emplace_back(statement);
    return inner_.run(statement);
  }
  [[nodiscard]] bool usable() const override { return inner_.usable(); }

 private:
  void count(std::int64_t rows) {
    ++statements_;
    rows_ += rows;
    if (!is_open_) end();
  }
  void end() {
    sent_.statements = std::max(sent_.statements, std::exchange(statements_, 0));
    sent_.rows = std::max(sent_.rows, std::exchange(rows_, 0));
    is_open_ = false;
  }

  sql::Connection& inner_;
  Sent& sent_;
  std::int64_t statements_ = 0;
  std::int64_t rows_ = 0;
  bool is_open_ = false;
};

class CountedDatabase final : public guard::Database {
 public:
  CountedDatabase(guard::Database& real, Sent& sent) : real_(real), sent_(sent) {}
  [[nodiscard]] const guard::Dialect& dialect() const override { return real_.dialect(); }
  [[nodiscard]] guard::Commits commits() const override { return real_.commits(); }
  Result<> use(Duration within, Work work) override {
    return real_.use(within, [&](sql::Connection& connection) {
      CountedConnection counted(connection, sent_);
      return work(counted);
    });
  }
  Result<> use_once(Duration within, Work work) override {
    return real_.use_once(within, [&](sql::Connection& connection) {
      CountedConnection counted(connection, sent_);
      return work(counted);
    });
  }

 private:
  guard::Database& real_;
  Sent& sent_;
};

TEST_P(GuardBlocking, NoTransactionOfOursIsLongOrHasManyRows) {
  make_bills();
  const auto real = guard_bills();
  fill(5'000);
  Sent sent;
  const auto table =
      guard::open_table(std::make_shared<CountedDatabase>(*database_, sent), bill_settings(), 10s)
          .value();
  run("UPDATE user_bill SET status = CASE id % 5 WHEN 0 THEN 'SUCCESS' ELSE 'FAIL' END, "
      "err_status = 4000 + id % 2, err_start_time = NULL, err_next_retry_time = NULL, "
      "err_next_remind_staff_time = NULL");

  look_after_rows(*table);

  EXPECT_GT(sent.rows, 0) << "nothing was counted";
  EXPECT_LE(sent.rows, 2 * 200) << "more than two batches";
  // On a file a batch is one transaction, on a server each row is.
  EXPECT_LE(sent.statements, is_sqlite() ? 2 * 200 : 16);
}

// The table is changed without copying it, and each change gives up quickly where others use it.
TEST_P(GuardBlocking, EveryChangeOfATableIsOneThatLetsOthersWrite) {
  if (is_sqlite()) GTEST_SKIP() << "a file has one writer at a time";
  make_bills();
  fill(100);
  (void)open();
  Sent sent;
  const auto table =
      guard::open_table(std::make_shared<CountedDatabase>(*database_, sent), bill_settings(), 10s)
          .value();

  ASSERT_TRUE(add_all(*table, 60s));

  std::size_t changes = 0;
  std::string before;
  for (const std::string& script : sent.scripts) {
    const auto has = [&](const char* text) { return script.find(text) != std::string::npos; };
    if (has("ALTER TABLE") || has("INDEX")) {
      ++changes;
      const bool lets_write = has("CONCURRENTLY") || has("LOCK=NONE") || has("ALGORITHM=INSTANT") ||
                              before.find("lock_timeout = 10;") != std::string::npos;
      EXPECT_TRUE(lets_write) << script;
    }
    before = script;
  }
  EXPECT_GE(changes, 4U) << "columns and indexes";
}

class GuardedFile : public OnLargeTable {};
INSTANTIATE_TEST_SUITE_P(, GuardedFile, ::testing::Values("Sqlite"), guard_database_name);

// A file has one writer at a time: the application's turn comes although thousands of rows wait.
TEST_P(GuardedFile, AnApplicationHasItsTurnBesideAScan) {
  make_bills();
  const auto table = guard_bills();
  fill(20'000);
  Writer writer(place_.url(), "user_bill", rows_, 4);
  ASSERT_TRUE(eventually([&] { return writer.steps() > 50; }, 60s));
  run("UPDATE user_bill SET status = 'FAIL', err_status = 4000 WHERE id <= 4000");
  ASSERT_TRUE(eventually([&, from = writer.steps()] { return writer.steps() > from + 5; }, 60s));
  (void)writer.longest();
  const std::int64_t before = writer.steps();

  const auto begin = std::chrono::steady_clock::now();
  std::int64_t healed = 0;
  for (int i = 0; i < 20; ++i) healed += table->heal(200, 30s).value().got_start_time;
  const auto took = std::chrono::steady_clock::now() - begin;

  const Duration waited = writer.longest();
  fmt::print("{}: {} rows in {} ms, beside which the application wrote {} times and waited {} us\n",
             GetParam(), healed, took / 1ms, writer.steps() - before, waited.count());
  EXPECT_EQ(healed, 4'000);
  EXPECT_GT(writer.steps(), before) << "the application's turn never came";
  EXPECT_LE(waited, std::max<Duration>(1s, std::chrono::duration_cast<Duration>(took) / 2));
}

// One that keeps its transaction open for long: nobody else waits behind us for its end.
TEST_P(GuardBlocking, BehindALongTransactionNobodyQueuesForLong) {
  if (is_sqlite()) GTEST_SKIP() << "a file has one writer at a time";
  make_bills();
  fill(10'000);
  Writer other(place_.url(), "user_bill", rows_ - 1, 3);
  ASSERT_TRUE(eventually([&] { return other.steps() > 1'000; }, 60s));
  const Duration alone = other.longest();
  auto slow = connect_to(place_.url());
  ASSERT_TRUE(slow->begin());
  ASSERT_TRUE(slow->execute("UPDATE user_bill SET amount = 0 WHERE id = 10000", {}));

  const auto table = open();
  const std::int64_t before = other.steps();
  const Result<> refused = add_all(*table, 2s);
  const Duration waited = other.longest();
  const std::int64_t meanwhile = other.steps() - before;
  ASSERT_TRUE(slow->commit());
  const Result<> ensured = add_all(*table, 60s);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(ensured) << (ensured ? "" : ensured.error().message);
  fmt::print("{}: others waited at most {} us alone and {} us behind a long transaction\n",
             GetParam(), alone.count(), waited.count());
  EXPECT_GE(meanwhile, 50) << "others waited behind us";
  // A second is what a server's own patience would make them wait.
  EXPECT_LE(waited, is_measuring() ? allowed(alone) : 500ms + alone * 2);
}

}  // namespace
}  // namespace recourse::tests
