// A guarded table behind SQL. Each statement is a transaction of its own: no row stays locked
// between two of them. What a statement relies on stands in its WHERE.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "guard/database.h"
#include "guard/read_row.h"
#include "guard/shape.h"
#include "guard/statements.h"
#include "guard/sweep.h"
#include "guard/table.h"
#include "guard/values.h"

namespace recourse::guard {

class SqlTable final : public GuardedTable {
 public:
  static Result<std::unique_ptr<SqlTable>> open(std::shared_ptr<Database> database,
                                                GuardSettings settings, MovedClock moved,
                                                Duration within);

  [[nodiscard]] const GuardSettings& settings() const override { return settings_; }

  Result<TablePlan> plan(Duration within) override;
  Result<> add_columns(Duration within) override;
  Result<> add_indexes(Duration within, const std::stop_token& stop) override;
  [[nodiscard]] bool adds_indexes_beside_others() const override {
    return dialect().builds_beside_others();
  }
  Result<std::map<std::string, std::string>> comments(Duration within) override;

  Result<Healed> heal(std::size_t limit, Duration within) override;
  Result<std::vector<RowId>> due(std::size_t limit, Duration within) override;
  Result<std::vector<RowId>> promote(std::size_t limit, Duration within) override;
  Result<bool> give_to_person(const RowId& id, TimePoint began_by, Duration within) override;
  Result<std::vector<ReminderClaim>> take_reminders(std::size_t limit, Duration hold,
                                                    Duration within) override;
  Result<bool> reminded(const ReminderClaim& claim, bool sent, Duration within) override;
  Result<bool> put_off(ReminderClaim& claim, Duration wait, Duration within) override;
  std::optional<Refusal> take_refusal() override;

  Result<ClaimAnswer> claim(const RowId& id, Duration hold, Duration within) override;
  Result<std::vector<Pushed>> push(std::span<Claim> claims, Duration hold,
                                   Duration within) override;
  Result<bool> succeeded(const Claim& claim, Duration within) override;
  Result<std::optional<AfterFailure>> failed(const Claim& claim, Duration within) override;

  Result<std::vector<RowId>> open_rows_of(const std::string& user, std::size_t limit,
                                          Duration within) override;
  Result<Marked> mark_abnormal(const RowId& id, const std::optional<std::string>& user,
                               Duration within) override;
  Result<std::int64_t> retry(const RowId& id, Duration within) override;
  Result<std::int64_t> processing_successful(const RowId& id, Duration within) override;

  Result<std::optional<Row>> find(const RowId& id, Duration within) override;
  Result<TimePoint> now(Duration within) override;
  Result<std::vector<ListedRow>> list(const ListQuery& query, Duration within) override;
  Result<std::vector<Row>> rows(const ListQuery& query, Duration within) override;
  Result<std::int64_t> count(const ListQuery& query, Duration within) override;
  Result<TableReport> report(Duration within) override;
  Result<RowId> parse_id(const std::string& text) override;

 private:
  // The table as it was last looked at.
  struct View {
    View(Shape seen, const Dialect& dialect, const std::string& skip_locked,
         const GuardSettings& settings);

    Shape shape;
    Statements statements;
    RowId success;
    RowId fail;
  };
  using Seen = std::shared_ptr<const View>;

  // What was found out when it was opened.
  struct Found {
    TableClocks clocks;
    std::string skip_locked;
    Shape shape;
  };
  static Result<Found> look(const Dialect& dialect, sql::Connection& connection,
                            const GuardSettings& settings);
  SqlTable(std::shared_ptr<Database> database, GuardSettings settings, MovedClock moved,
           Found found);

  [[nodiscard]] Seen seen() const;
  // kInvalid while columns are missing.
  [[nodiscard]] Result<Seen> ready() const;
  [[nodiscard]] const Dialect& dialect() const { return database_->dialect(); }

  // Whole tries, until one is decided or the time is over. `again`: an earlier one may have been
  // done all the same, because only its reply was lost.
  using Try = FunctionRef<Result<>(sql::Connection&, bool again)>;
  Result<> attempt(Duration within, Try work) const;
  // Whether what a try has done is undone where it fails: the next begins at the beginning.
  [[nodiscard]] bool undoes_failed_tries() const {
    return database_->commits() != Commits::kEachWrite;
  }
  Result<TimePoint> now_on(sql::Connection& connection) const;
  enum class Rows : std::uint8_t { kAll, kFree };
  // kFree: nothing also where somebody has it locked.
  Result<std::optional<Row>> find_on(sql::Connection& connection, const View& view, const RowId& id,
                                     Rows rows = Rows::kAll) const;
  Result<> look_again(sql::Connection& connection);

  [[nodiscard]] std::string written(const Column& column, TimePoint moment) const {
    return clocks_.of(column).written(moment);
  }
  [[nodiscard]] std::string reached(const Column& column, TimePoint now) const {
    return clocks_.of(column).reached(now);
  }
  // As it will be read back.
  [[nodiscard]] TimePoint kept(const Column& column, TimePoint moment) const;

  struct Unhealed {
    RowId id;
    bool lacks_start = false;
  };
  Result<std::vector<Unhealed>> unhealed_on(sql::Connection& connection, const View& view,
                                            std::size_t limit) const;
  // What it has passed over is told by take_refusal().
  Result<> finish(Sweep& sweep);
  Result<> heal_one(Sweep& sweep, const View& view, const Unhealed& row, TimePoint now,
                    Healed& healed) const;

  // In seconds, in their order.
  Result<std::vector<std::int64_t>> windows_on(sql::Connection& connection, const View& view,
                                               std::int64_t longer_than) const;
  Result<> promote_in(sql::Connection& connection, Sweep& sweep, const View& view,
                      std::int64_t window, std::size_t limit, std::vector<RowId>& promoted) const;
  // Of the next few windows. Whether there are more, or there was no room for all.
  Result<bool> promote_page(sql::Connection& connection, Sweep& sweep, const View& view,
                            std::size_t limit, std::vector<RowId>& promoted);
  [[nodiscard]] std::int64_t promoted_up_to() const;
  void set_promoted_up_to(std::int64_t window);
  Result<bool> give_up(Sweep& sweep, const View& view, const Row& row, TimePoint now) const;

  Result<bool> mark_on(sql::Connection& connection, const View& view, const RowId& id,
                       const std::optional<RowId>& user, Marked& marked) const;
  Result<std::optional<Claim>> claim_on(sql::Connection& connection, const View& view,
                                        const Row& row, TimePoint now, Duration hold) const;
  // Those that nobody else has locked. In a transaction that the caller has begun, as push_on().
  Result<std::map<RowId, Row>> free_rows_on(sql::Connection& connection, const View& view,
                                            std::span<const Claim> claims) const;
  Result<std::vector<Pushed>> push_on(sql::Connection& connection, const View& view,
                                      std::span<const Claim> claims, TimePoint token,
                                      bool again) const;
  // What of the table is to be added, and for how long that may be tried.
  struct Adding;
  Result<> add(const Adding& adding);
  Result<> apply_changes(sql::Connection& connection, const Adding& adding);

  const std::shared_ptr<Database> database_;
  const GuardSettings settings_;
  const TableClocks clocks_;
  const MovedClock moved_;
  const std::string skip_locked_;
  mutable Mutex mutex_;
  Seen seen_ GUARDED_BY(mutex_);
  std::optional<Refusal> refusal_ GUARDED_BY(mutex_);
  // The longest window that a scan has dealt with, until it has dealt with all of them.
  std::int64_t promoted_up_to_ GUARDED_BY(mutex_) = std::numeric_limits<std::int64_t>::min();
};

}  // namespace recourse::guard
