// One guarded table: every statement that touches it, on any of the three databases.
//
// A row is claimed by a compare-and-set that pushes its next retry time, in whole seconds: that
// time is the token. No lock is held while user code runs; what is written afterwards is
// conditional on the token and on err_status 4000, so success is never overwritten, and at most one
// row is touched. Whoever dies leaves a row whose time comes again by itself.
//
// Every call is one short transaction of its own. Times are the database's clock.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "guard/row.h"
#include "guard/rules.h"
#include "guard/settings.h"
#include "recourse/sql.h"

namespace recourse::store {
class Creates;
}

namespace recourse::guard {

// What is missing in the database, as the statements that would add it, in their order.
struct TablePlan {
  std::vector<std::string> statements;
  // An index that stands in none of them is being built by somebody else.
  bool is_being_built = false;
};

// A row that this process may run, until `token`.
struct Claim {
  Row row;  // as it was before
  TimePoint token;
  TimePoint now;  // the database's, when it was claimed
};

struct ClaimAnswer {
  std::optional<Claim> claim;
  // Where there is none; kNotWaiting also where the row is gone.
  Standing standing = Standing::kDue;
  // Where the standing is kLater: how long still.
  Duration wait = Duration::zero();
};

struct Healed {
  std::int64_t got_start_time = 0;
  std::int64_t became_2001 = 0;
  // As many as the limit were found: there may be more.
  bool more = false;
};

// What became of a claim that was to be held for longer.
enum class Pushed : std::uint8_t {
  kHeld,
  kLost,    // it is not ours any more
  kLocked,  // somebody has locked the row: it may still be ours, until its token ends
};
// Of one push.
inline constexpr std::size_t kPushedMax = 32;

// A row of which somebody is to be told, held until `token` (err_next_remind_staff_time).
struct ReminderClaim {
  Row row;  // as it was before
  TimePoint token;
};

struct Marked {
  // 0: no such row, or not committed yet. Told, never hidden.
  std::int64_t rows = 0;
  // 4000 or 4001, as it stands now.
  std::optional<std::int32_t> err_status = std::nullopt;
};

struct ListQuery {
  // Empty: err_status is not null and not 2000.
  std::vector<std::int32_t> err_statuses = {};
  std::size_t limit = 20;
};

// Of a cell.
inline constexpr std::size_t kListedCharactersMax = 10'000;

// All columns of a row in their order, cut; times as `2026-02-05 12:00:00`.
struct ListedRow {
  std::vector<std::pair<std::string, SqlValue>> columns;
  // What lists of several tables are sorted by, newest first; empty: last.
  std::optional<TimePoint> start_time;
};

// What `guard watch` shows; nothing is changed.
struct TableReport {
  std::map<std::int32_t, std::int64_t> by_err_status;
  std::optional<TimePoint> oldest_start;
  TimePoint now;
  // The business status is the success value, and err_status 4000 or 4001.
  std::int64_t healed_unnoticed = 0;
  // The business status is the fail value, and err_status says normal, healed or nothing.
  std::int64_t failed_unmarked = 0;
  // 4000 or 4001 with a business status that is neither value.
  std::int64_t other_status = 0;
};

// A row that the table does not let us write to, by a trigger or a constraint of its own.
struct Refusal {
  RowId row;
  Error error;
};

class GuardedTable {
 public:
  virtual ~GuardedTable() = default;

  [[nodiscard]] virtual const GuardSettings& settings() const = 0;

  // --- columns and indexes ---
  virtual Result<TablePlan> plan(Duration within) = 0;
  // Both add what is missing without blocking the application for longer than a lock's patience.
  //
  // Without its columns a guard cannot work. A role without the right to add them gets an error
  // that names the statements to run.
  virtual Result<> add_columns(Duration within) = 0;
  // Without its indexes it works, and reads more. Those that the role may not add, or that are
  // refused for another reason, are left out: plan() still names them. kUnavailable: the table was
  // in use all the time, or a stop came; what was built so far stays.
  virtual Result<> add_indexes(Duration within, const std::stop_token& stop) = 0;
  // Whether that takes long beside everybody's work; where not, as in a file, which it locks, it is
  // best done before there is any.
  [[nodiscard]] virtual bool adds_indexes_beside_others() const = 0;
  // By column.
  virtual Result<std::map<std::string, std::string>> comments(Duration within) = 0;

  // --- the scan (GUARD-6 to GUARD-12) ---
  // What the application has locked is left out, and nobody waits for it, where the database can
  // tell (PostgreSQL, MariaDB 10.6, MySQL 8).
  //
  // At most `limit` rows.
  virtual Result<Healed> heal(std::size_t limit, Duration within) = 0;
  // Due for a retry, the longest due first.
  virtual Result<std::vector<RowId>> due(std::size_t limit, Duration within) = 0;
  // Those past their window, which become 4001. At most `limit`; answers which.
  virtual Result<std::vector<RowId>> promote(std::size_t limit, Duration within) = 0;
  // Where it is due, and its error began no later than that: it becomes 4001. False: it is not so.
  virtual Result<bool> give_to_person(const RowId& id, TimePoint began_by, Duration within) = 0;
  // Takes reminders that are due, each for `hold`.
  virtual Result<std::vector<ReminderClaim>> take_reminders(std::size_t limit, Duration hold,
                                                            Duration within) = 0;
  // False: the row is not 4001 any more, or somebody else has it.
  virtual Result<bool> reminded(const ReminderClaim& claim, bool sent, Duration within) = 0;
  // It is told later, or held for longer, and nothing else of it changes: the claim's token is the
  // new one. False as above.
  virtual Result<bool> put_off(ReminderClaim& claim, Duration wait, Duration within) = 0;

  // A row that one of these steps has passed over since this was last asked: the others went on.
  virtual std::optional<Refusal> take_refusal() = 0;

  // --- one row's retry ---
  // At least for `hold`, rounded up to whole seconds.
  virtual Result<ClaimAnswer> claim(const RowId& id, Duration hold, Duration within) = 0;
  // Holds them for longer, all in one transaction: the token of each that is held is the new one.
  // At most kPushedMax; answers in their order.
  virtual Result<std::vector<Pushed>> push(std::span<Claim> claims, Duration hold,
                                           Duration within) = 0;
  // 2001 and the success value.
  virtual Result<bool> succeeded(const Claim& claim, Duration within) = 0;
  // What after_failure() says of it; empty: not ours any more.
  virtual Result<std::optional<AfterFailure>> failed(const Claim& claim, Duration within) = 0;

  // --- the business' side; ids as callers have them, read as the column's type has them ---
  // Rows of that user in 4000 or 4001, at most `limit`.
  virtual Result<std::vector<RowId>> open_rows_of(const std::string& user, std::size_t limit,
                                                  Duration within) = 0;
  // Waits for nobody's retry: 4000, count 0, interval and window from the guard, the start time
  // where there is none. A row in 4000 or 4001 keeps all of it but for the user. One whose last
  // error is over (2001, 2002) begins a new one, with a start time of its own and nobody told.
  virtual Result<Marked> mark_abnormal(const RowId& id, const std::optional<std::string>& user,
                                       Duration within) = 0;
  // A person has it tried once more: a row in 4001 with the fail value begins anew, due now. 0: it
  // is not so.
  virtual Result<std::int64_t> retry(const RowId& id, Duration within) = 0;
  // 2002, 4002 and the success value. 0: no such row.
  virtual Result<std::int64_t> processing_successful(const RowId& id, Duration within) = 0;

  // --- seeing ---
  virtual Result<std::optional<Row>> find(const RowId& id, Duration within) = 0;
  virtual Result<TimePoint> now(Duration within) = 0;
  // Newest error first, both: with all columns, and as the guard sees them.
  virtual Result<std::vector<ListedRow>> list(const ListQuery& query, Duration within) = 0;
  virtual Result<std::vector<Row>> rows(const ListQuery& query, Duration within) = 0;
  virtual Result<std::int64_t> count(const ListQuery& query, Duration within) = 0;
  virtual Result<TableReport> report(Duration within) = 0;
  // Reads an id as the column's type has it; kInvalid says what is wrong.
  virtual Result<RowId> parse_id(const std::string& text) = 0;
};

class Database;

// For tests: what the database's clock is taken for.
using MovedClock = std::function<TimePoint(TimePoint database_now)>;

// Opens the database (sqlite:FILE, postgres://..., mysql://...) and checks table and columns
// against its catalog; nothing is changed. Bad names are refused by field. A name or service name
// that is empty becomes the table's.
Result<std::unique_ptr<GuardedTable>> open_table(const std::string& url,
                                                 const GuardSettings& settings, Duration within,
                                                 MovedClock moved = nullptr);
// Of a SQLite file that is the engine's own: its one writer writes. `creates` must outlive the
// table.
Result<std::unique_ptr<GuardedTable>> open_table(store::Creates& creates,
                                                 const GuardSettings& settings, Duration within,
                                                 MovedClock moved = nullptr);
Result<std::unique_ptr<GuardedTable>> open_table(std::shared_ptr<Database> database,
                                                 const GuardSettings& settings, Duration within,
                                                 MovedClock moved = nullptr);

// Guards of one database share its connections; a SQLite file takes only one opener.
//
// Thread safety: safe to call from any thread.
class Databases {
 public:
  Result<std::unique_ptr<GuardedTable>> open_table(const std::string& url,
                                                   const GuardSettings& settings, Duration within);

 private:
  Result<std::shared_ptr<Database>> shared(const std::string& url);

  Mutex mutex_;  // held while a file is opened, which is a second at most; servers connect later
  std::map<std::string, std::weak_ptr<Database>> open_ GUARDED_BY(mutex_);
};

}  // namespace recourse::guard
