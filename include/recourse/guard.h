// A table of yours with a status column, whose stuck rows heal themselves: they are retried, given
// to a person when that does not help, reminded of, and written back, where they are.
//
//   class UserBills : public recourse::Guard {
//    public:
//     UserBills() : Guard({.table = "user_bill", .user_field = "user_id",
//                          .status_field = "status", .success_value = "SUCCESS",
//                          .fail_value = "FAIL", .service_name = "User bills"}) {}
//     bool check_status(const recourse::RowId& id) override { return bank.has_paid(id); }
//     bool handle_exception(const recourse::RowId& id) override { return bank.pay_again(id); }
//     std::string manual_success_route() const override { return "/admin/manual-bill-success"; }
//   };
//
//   auto guards = recourse::Guards::on(engine).value();
//   auto bills = guards.add(std::make_shared<UserBills>());
//   engine.start().value();
//   ...
//   if (auto free = bills->check_user_err(user); !free) return refuse(free.error().message);
//   try {
//     pay(bill);
//   } catch (const std::exception&) {
//     bills->mark_abnormal(bill.id).value();  // a transaction of its own
//   }
//
// Rows are yours: none is ever created or deleted, and what your own code does to one must be
// idempotent, because it may be tried again after it has worked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "recourse/engine.h"
#include "recourse/options.h"
#include "recourse/result.h"
#include "recourse/sql.h"
#include "recourse/time.h"

namespace recourse {

// Numbers or text, as the table has them.
using RowId = std::variant<std::int64_t, std::string>;
std::string to_string(const RowId& id);

struct GuardOptions {
  // Where the table is: sqlite:FILE, postgres://..., mysql://... Empty: the engine's own store.
  std::string database = {};
  // Of the guard; its tasks are of the kind `guard.NAME`. Empty: the table's.
  std::string name = {};
  std::string table = {};
  std::string id_field = "id";
  // Empty: rows belong to nobody, and check_user_err is refused.
  std::string user_field = {};
  std::string status_field = {};
  // As the column's own type reads them: SUCCESS, or 1.
  std::string success_value = {};
  std::string fail_value = {};
  // For people, in any language.
  std::string service_name = {};

  // The first retry comes so long after the error, the next one twice as long after that, ...
  Duration min_interval = std::chrono::minutes(1);
  // From the first error on; then a person has to look.
  Duration timeout_window = std::chrono::hours(1);
  int max_retries = 5;
  // A person is reminded after this, then after twice as long, three times...
  Duration remind_every = std::chrono::minutes(30);

  Duration scan_every = std::chrono::seconds(60);
  // Of one run of check, handle and check.
  Duration attempt_timeout = std::chrono::seconds(10);
  // In which the table keeps its times, such as Asia/Shanghai. Empty: the database's own.
  std::string time_zone = {};

  // How many rows at once, how fast, and when their downstream is left alone. Retries come at the
  // rows' own times: a backoff here is only for what the engine itself puts off.
  KindOptions kind = {};
};

// What the guard's columns say of a row; err_status and manual_status are the source's numbers.
struct GuardedRow {
  RowId id;
  std::optional<std::string> business_status;
  // 2000 normal, 2001 healed by itself, 2002 healed by a person, 4000 waits for its next retry,
  // 4001 needs a person. Empty: never had an error.
  std::optional<int> err_status;
  std::optional<TimePoint> start_time;
  int retries = 0;
  std::optional<TimePoint> next_retry;
  // 2000 somebody was told, 4000 nobody could be, 4002 a person has dealt with it.
  std::optional<int> manual_status;
  std::optional<TimePoint> next_reminder;
  int reminders = 0;
};

struct RowExplanation {
  GuardedRow row;
  // The next scan takes it.
  bool due = false;
  // Why it is not retried now, and what to do about it.
  std::string why;
  // The newest task that has run it, or will, and what its last run failed of; empty: there is
  // none.
  TaskIdText task = {};
  std::string last_error = {};
};

// Nothing is changed by asking for it.
struct GuardReport {
  std::map<int, std::int64_t> by_err_status;
  std::optional<TimePoint> oldest_error;
  // The business has succeeded, and err_status still is 4000 or 4001: the next scan heals it.
  std::int64_t healed_unnoticed = 0;
  // The business has failed, and nobody has marked the row.
  std::int64_t failed_unmarked = 0;
  // 4000 or 4001 with a status that is neither success nor failure: not retried.
  std::int64_t other_status = 0;
};

// What this process has done since it began.
struct GuardFigures {
  std::uint64_t scans = 0;
  std::uint64_t scans_failed = 0;
  Duration scan_time = Duration::zero();
  std::uint64_t runs = 0;
  std::uint64_t runs_failed = 0;
  // By a run, and by a scan that found that the business had succeeded.
  std::uint64_t healed = 0;
  std::uint64_t escalated = 0;
  std::uint64_t reminded = 0;
  // Somebody else had the row, or it was not due.
  std::uint64_t not_claimed = 0;
  std::uint64_t lost = 0;
};

// A row with all its columns in their order, each cut after 10,000 characters; times as
// `2026-02-05 12:00:00`.
using RowColumns = std::vector<std::pair<std::string, SqlValue>>;

struct RowQuery {
  // Empty: all that have, or had, an error.
  std::vector<int> err_statuses = {};
  std::size_t limit = 20;
};

// Safe to use from any thread, once its engine has started and as long as that lives; before, every
// call is refused.
class Guard {
 public:
  explicit Guard(GuardOptions options);
  virtual ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // --- yours; called from many threads at once, and never two at once for one row. What they throw
  // is a failure ---
  // Has the business succeeded by now? Asked before and after a try.
  virtual bool check_status(const RowId& id) = 0;
  // One more try.
  virtual bool handle_exception(const RowId& id) = 0;
  // Where a POST ends a case by a person's hand. Empty: no such route.
  [[nodiscard]] virtual std::string manual_success_route() const = 0;
  // A person has dealt with it. kNotFound: there is no such row.
  virtual Result<> manual_success(const RowId& id);

  // --- at the entry of your business ---
  // kConflict: this user still has rows that wait for a retry or a person; the error names them.
  Result<> check_user_err(std::string_view user);
  // The rows themselves, at most 100.
  Result<std::vector<RowId>> open_rows_of(std::string_view user);
  // --- where it fails ---
  // In a transaction of its own, which the caller's rollback does not undo. Answers err_status as
  // it stands: 4000, or 4001 where a person had the row already. kNotFound: there is no such row,
  // or the transaction that inserts it has not committed; commit first.
  Result<int> mark_abnormal(const RowId& id);
  Result<int> mark_abnormal(const RowId& id, std::string_view user);
  // --- where a person has mended what was in its way ---
  // A row in 4001 begins anew, due now. kConflict: it is not there, or its status is another than
  // the fail value. kNotFound: there is no such row.
  Result<> retry(const RowId& id);
  // --- where a person has healed it ---
  // err_status 2002 and the success value, in one step. kNotFound: there is no such row.
  Result<> processing_successful(const RowId& id);

  // --- seeing ---
  Result<RowExplanation> explain(const RowId& id);
  // Newest error first.
  Result<std::vector<RowColumns>> list(const RowQuery& query = {});
  Result<GuardReport> report();
  [[nodiscard]] GuardFigures figures() const;
  // All four steps of a scan, now; answers when they are done. Runs of rows may take longer.
  Result<> scan_now(Duration within = std::chrono::seconds(30));

  [[nodiscard]] const GuardOptions& options() const;

 private:
  friend class Guards;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The guards of an engine, which must outlive it.
class Guards {
 public:
  // Before the engine starts, once.
  static Result<Guards> on(Engine& engine);

  // Before the engine starts, which opens the table, adds the columns that are missing, and tells
  // what is wrong; indexes are added beside its work, those of an SQLite file before it. A database
  // that does not answer then, or a file that is locked, keeps nobody from starting: its guard is
  // not ready (kUnavailable, and `guard_not_ready` in the log) until a scan has opened it. The
  // engine keeps the guard.
  template <class G>
  std::shared_ptr<G> add(std::shared_ptr<G> guard) {
    take(guard);
    return guard;
  }

  // A guard for each route that is not empty: for the program's own HTTP server, whose handler
  // calls manual_success.
  [[nodiscard]] std::map<std::string, std::shared_ptr<Guard>> routes() const;

 private:
  explicit Guards(Engine::Impl& engine) : engine_(&engine) {}
  void take(const std::shared_ptr<Guard>& guard);

  Engine::Impl* engine_;
};

}  // namespace recourse
