#include "guard/late_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace recourse::guard {
namespace {

constexpr Duration kFirstOpenPause = std::chrono::seconds(1);
constexpr Duration kLongestOpenPause = std::chrono::minutes(1);

}  // namespace

LateTable::LateTable(GuardSettings settings, Open open, Error why, const Clock& clock, Log& log)
    : settings_(std::move(settings)),
      open_(std::move(open)),
      clock_(clock),
      log_(log),
      why_(std::move(why)),
      pause_(kFirstOpenPause),
      next_try_(clock_.since_boot() + kFirstOpenPause) {}

Error LateTable::not_ready() const {
  return {ErrorCode::kUnavailable,
          fmt::format("the guard {} is not ready: {}", settings_.name, why_.message)};
}

Result<GuardedTable*> LateTable::table() {
  const MutexLock lock(mutex_);
  if (opened_) return opened_.get();
  return fail(not_ready());
}

Result<GuardedTable*> LateTable::open_now() {
  {
    const MutexLock lock(mutex_);
    if (opened_) return opened_.get();
    if (clock_.since_boot() < next_try_) return fail(not_ready());
  }
  auto opened = open_();
  const MutexLock lock(mutex_);
  if (!opened) {
    why_ = opened.error();
    pause_ = std::min(pause_ * 2, kLongestOpenPause);
    next_try_ = clock_.since_boot() + pause_;
    return fail(not_ready());
  }
  opened_ = *std::move(opened);
  log_.info("guard_ready", {{"guard", settings_.name}, {"table", settings_.table}});
  return opened_.get();
}

Result<Healed> LateTable::heal(std::size_t limit, Duration within) {
  const auto opened = open_now();
  return opened ? (*opened)->heal(limit, within) : fail(opened.error());
}

// It is part of opening it.
Result<> LateTable::add_columns(Duration within) {
  const auto opened = table();
  return opened ? (*opened)->add_columns(within) : Result<>();
}

bool LateTable::adds_indexes_beside_others() const {
  const MutexLock lock(mutex_);
  return !opened_ || opened_->adds_indexes_beside_others();
}

Result<> LateTable::add_indexes(Duration within, const std::stop_token& stop) {
  const auto opened = table();
  return opened ? (*opened)->add_indexes(within, stop) : fail(opened.error());
}

Result<TablePlan> LateTable::plan(Duration within) {
  const auto opened = table();
  return opened ? (*opened)->plan(within) : fail(opened.error());
}

Result<std::map<std::string, std::string>> LateTable::comments(Duration within) {
  const auto opened = table();
  return opened ? (*opened)->comments(within) : fail(opened.error());
}

Result<std::vector<RowId>> LateTable::due(std::size_t limit, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->due(limit, within) : fail(opened.error());
}

Result<std::vector<RowId>> LateTable::promote(std::size_t limit, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->promote(limit, within) : fail(opened.error());
}

Result<bool> LateTable::give_to_person(const RowId& id, TimePoint began_by, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->give_to_person(id, began_by, within) : fail(opened.error());
}

Result<std::vector<ReminderClaim>> LateTable::take_reminders(std::size_t limit, Duration hold,
                                                             Duration within) {
  const auto opened = table();
  return opened ? (*opened)->take_reminders(limit, hold, within) : fail(opened.error());
}

Result<bool> LateTable::reminded(const ReminderClaim& claim, bool sent, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->reminded(claim, sent, within) : fail(opened.error());
}

Result<bool> LateTable::put_off(ReminderClaim& claim, Duration wait, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->put_off(claim, wait, within) : fail(opened.error());
}

std::optional<Refusal> LateTable::take_refusal() {
  const auto opened = table();
  return opened ? (*opened)->take_refusal() : std::nullopt;
}

Result<ClaimAnswer> LateTable::claim(const RowId& id, Duration hold, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->claim(id, hold, within) : fail(opened.error());
}

Result<std::vector<Pushed>> LateTable::push(std::span<Claim> claims, Duration hold,
                                            Duration within) {
  const auto opened = table();
  return opened ? (*opened)->push(claims, hold, within) : fail(opened.error());
}

Result<bool> LateTable::succeeded(const Claim& claim, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->succeeded(claim, within) : fail(opened.error());
}

Result<std::optional<AfterFailure>> LateTable::failed(const Claim& claim, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->failed(claim, within) : fail(opened.error());
}

Result<std::vector<RowId>> LateTable::open_rows_of(const std::string& user, std::size_t limit,
                                                   Duration within) {
  const auto opened = table();
  return opened ? (*opened)->open_rows_of(user, limit, within) : fail(opened.error());
}

Result<Marked> LateTable::mark_abnormal(const RowId& id, const std::optional<std::string>& user,
                                        Duration within) {
  const auto opened = table();
  return opened ? (*opened)->mark_abnormal(id, user, within) : fail(opened.error());
}

Result<std::int64_t> LateTable::retry(const RowId& id, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->retry(id, within) : fail(opened.error());
}

Result<std::int64_t> LateTable::processing_successful(const RowId& id, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->processing_successful(id, within) : fail(opened.error());
}

Result<std::optional<Row>> LateTable::find(const RowId& id, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->find(id, within) : fail(opened.error());
}

Result<TimePoint> LateTable::now(Duration within) {
  const auto opened = table();
  return opened ? (*opened)->now(within) : fail(opened.error());
}

Result<std::vector<ListedRow>> LateTable::list(const ListQuery& query, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->list(query, within) : fail(opened.error());
}

Result<std::vector<Row>> LateTable::rows(const ListQuery& query, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->rows(query, within) : fail(opened.error());
}

Result<std::int64_t> LateTable::count(const ListQuery& query, Duration within) {
  const auto opened = table();
  return opened ? (*opened)->count(query, within) : fail(opened.error());
}

Result<TableReport> LateTable::report(Duration within) {
  const auto opened = table();
  return opened ? (*opened)->report(within) : fail(opened.error());
}

Result<RowId> LateTable::parse_id(const std::string& text) {
  const auto opened = table();
  return opened ? (*opened)->parse_id(text) : fail(opened.error());
}

}  // namespace recourse::guard
