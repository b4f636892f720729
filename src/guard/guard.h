// One guard: its table, its scan, the runs of its rows, and what business code and people ask of
// it.
//
// Safe to use from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/ulid_source.h"
#include "engine/core/rules.h"
#include "engine/node.h"
#include "guard/counters.h"
#include "guard/indexing.h"
#include "guard/reminder.h"
#include "guard/row_handlers.h"
#include "guard/table.h"
#include "store/opened.h"
#include "task/record.h"

namespace recourse::guard {

// All of them must outlive the guard.
struct GuardParts {
  engine::Node& node;
  store::OpenedStore& opened;
  UlidSource& ids;
  const Clock& clock;
  Log& log;
  // Empty: the log is told, and that counts.
  Tell tell = nullptr;
};

struct NewGuard {
  // Open, and checked against its catalog.
  std::unique_ptr<GuardedTable> table;
  RowHandlers handlers;
  // Of its database (place_of()): two guards of one table must get along.
  std::string place = {};
  // Concurrency, breaker, rate... of the kind. Its backoff only puts off what the engine itself
  // holds back: retries come at the row's own times.
  engine::KindSettings kind = {};
};

// What one scan did.
struct ScanReport {
  std::int64_t got_start_time = 0;
  std::int64_t healed = 0;
  // Rows due for a retry, and how many of them were handed to the engine: the others have a task.
  std::int64_t due = 0;
  std::int64_t submitted = 0;
  std::int64_t escalated = 0;
  std::int64_t reminders = 0;
  Duration took = Duration::zero();
};

// GUARD-9: why a row is not retried.
struct Explanation {
  Row row;
  Standing standing = Standing::kDue;
  // For people: what it means and what to do.
  std::string text;
  TimePoint now;  // the database's
  // Its newest, with its last error; empty also where the engine's store does not answer.
  std::optional<task::Task> task = std::nullopt;
};

class Scanner;
class RowRuns;

class Guard {
 public:
  Guard(const GuardParts& parts, NewGuard guard);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  [[nodiscard]] const std::string& name() const { return settings().name; }
  // `guard.NAME`
  [[nodiscard]] const task::Kind& kind() const { return kind_; }
  [[nodiscard]] const GuardSettings& settings() const { return table_->settings(); }
  [[nodiscard]] const std::string& place() const { return place_; }
  // Empty: it has none, or somebody else has its path.
  [[nodiscard]] std::string manual_success_route() const {
    return has_route_ ? settings().manual_success_route : std::string();
  }
  // Somebody else has its path: from here on nobody is told of it.
  void leave_route() { has_route_ = false; }
  [[nodiscard]] GuardedTable& table() { return *table_; }
  [[nodiscard]] GuardCounters counters() const { return tally_.counters(); }
  // Why its last scan failed, its database being away for example; empty: it is well, or has not
  // been scanned yet.
  [[nodiscard]] std::string trouble() const;

  // --- business code (GUARD-5, GUARD-13) ---
  // Empty: this user may go on.
  Result<std::vector<RowId>> open_rows_of(const std::string& user, Duration within);
  // In a transaction of its own, whatever becomes of the caller's. 0 rows are told, and logged.
  Result<Marked> mark_abnormal(const RowId& id, const std::optional<std::string>& user,
                               Duration within);
  // A person has it tried once more. kConflict: it does not wait for one, or its status is another
  // than the fail value; the error says why.
  Result<> retry(const RowId& id, Duration within);
  Result<std::int64_t> processing_successful(const RowId& id, Duration within);

  // --- people ---
  // What the user has for it, or processing_successful. 0: no such row.
  Result<std::int64_t> manual_success(const RowId& id, Duration within);
  Result<Explanation> explain(const RowId& id, Duration within);
  // All four steps at once, whenever the next would be; answers when they are done. Between start
  // and stop of the door.
  Result<ScanReport> scan_now(Duration within);

  // --- the door's ---
  // Before the node starts.
  Result<> register_kind(const engine::KindSettings& settings);
  void start();
  // No scan begins any more; those who wait for one are told so.
  void close();
  // After the node and whoever tells people have stopped: writes down what they were told.
  void stop(Duration within);

 private:
  void hint(const RowId& id, Duration due_in);
  [[nodiscard]] Tell tell_of_route() const;
  [[nodiscard]] std::string held_up_by() const;

  const GuardParts parts_;
  const std::unique_ptr<GuardedTable> table_;
  const RowHandlers handlers_;
  const std::string place_;
  const task::Kind kind_;
  std::atomic<bool> has_route_ = true;
  Tally tally_;
  std::unique_ptr<Scanner> scanner_;
  // After the scanner, which hears of what they did.
  std::unique_ptr<RowRuns> runs_;
  Indexing indexing_;
};

}  // namespace recourse::guard
