// A guarded table whose database did not answer when its guard began. The scan, whose first step is
// to heal, has it opened, with pauses that grow; until that has worked, everybody is told at once
// that it is not ready, and why.
//
// Thread safety: safe to call from any thread, but heal() by one at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "guard/table.h"

namespace recourse::guard {

class LateTable final : public GuardedTable {
 public:
  // Opens the table and adds what it misses.
  using Open = std::function<Result<std::unique_ptr<GuardedTable>>()>;

  // The settings are valid. `why` is what the first try came to. The clock and the log must outlive
  // it.
  LateTable(GuardSettings settings, Open open, Error why, const Clock& clock, Log& log);

  [[nodiscard]] const GuardSettings& settings() const override { return settings_; }

  Result<TablePlan> plan(Duration within) override;
  Result<> add_columns(Duration within) override;
  Result<> add_indexes(Duration within, const std::stop_token& stop) override;
  [[nodiscard]] bool adds_indexes_beside_others() const override;
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
  // kUnavailable: not yet, and why.
  Result<GuardedTable*> table();
  // Tries it, where it is time to.
  Result<GuardedTable*> open_now();
  [[nodiscard]] Error not_ready() const REQUIRES(mutex_);

  const GuardSettings settings_;
  const Open open_;
  const Clock& clock_;
  Log& log_;
  mutable Mutex mutex_;
  // Set once, and never changed from then on.
  std::unique_ptr<GuardedTable> opened_ GUARDED_BY(mutex_);
  Error why_ GUARDED_BY(mutex_);
  Duration pause_ GUARDED_BY(mutex_);
  BootTime next_try_ GUARDED_BY(mutex_);
};

}  // namespace recourse::guard
