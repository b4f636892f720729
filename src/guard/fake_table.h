// A guarded table that does as a test says: for what a real database does only when it is ill.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "guard/table.h"

namespace recourse::guard {

class FakeTable : public GuardedTable {
 public:
  explicit FakeTable(GuardSettings settings) : settings_(std::move(settings)) {}

  bool is_file = false;
  // Empty: everything is well.
  std::function<Result<std::vector<Pushed>>(std::span<Claim>, Duration hold)> on_push = nullptr;
  std::function<Result<TablePlan>()> on_plan = nullptr;
  std::function<Result<>(const std::stop_token&)> on_add_indexes = nullptr;
  std::function<Result<Healed>()> on_heal = nullptr;
  std::function<std::vector<RowId>(std::size_t limit)> on_promote = nullptr;
  std::function<std::vector<ReminderClaim>(Duration hold)> on_take_reminders = nullptr;
  std::function<Result<bool>(const ReminderClaim&)> on_reminded = nullptr;
  std::function<Result<bool>(ReminderClaim&, Duration wait)> on_put_off = nullptr;

  // The verbs that were called, in their order.
  [[nodiscard]] std::vector<std::string> calls() const {
    const MutexLock lock(mutex_);
    return calls_;
  }

  [[nodiscard]] const GuardSettings& settings() const override { return settings_; }
  Result<TablePlan> plan(Duration) override { return on_plan ? on_plan() : TablePlan{}; }
  Result<> add_columns(Duration) override { return {}; }
  Result<> add_indexes(Duration, const std::stop_token& stop) override {
    called("add_indexes");
    return on_add_indexes ? on_add_indexes(stop) : Result<>();
  }
  [[nodiscard]] bool adds_indexes_beside_others() const override { return !is_file; }
  Result<std::map<std::string, std::string>> comments(Duration) override {
    return std::map<std::string, std::string>();
  }
  Result<Healed> heal(std::size_t, Duration) override {
    called("heal");
    return on_heal ? on_heal() : Healed{};
  }
  Result<std::vector<RowId>> due(std::size_t, Duration) override {
    called("due");
    return std::vector<RowId>();
  }
  Result<std::vector<RowId>> promote(std::size_t limit, Duration) override {
    called("promote");
    return on_promote ? on_promote(limit) : std::vector<RowId>();
  }
  Result<bool> give_to_person(const RowId&, TimePoint, Duration) override {
    called("give_to_person");
    return true;
  }
  Result<std::vector<ReminderClaim>> take_reminders(std::size_t, Duration hold, Duration) override {
    called("take_reminders");
    return on_take_reminders ? on_take_reminders(hold) : std::vector<ReminderClaim>();
  }
  Result<bool> reminded(const ReminderClaim& claim, bool sent, Duration) override {
    called(sent ? "reminded" : "reminded of nothing");
    return on_reminded ? on_reminded(claim) : true;
  }
  Result<bool> put_off(ReminderClaim& claim, Duration wait, Duration) override {
    called("put off by " + std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()));
    return on_put_off ? on_put_off(claim, wait) : true;
  }
  std::optional<Refusal> take_refusal() override { return std::nullopt; }
  Result<ClaimAnswer> claim(const RowId&, Duration, Duration) override { return ClaimAnswer{}; }
  Result<std::vector<Pushed>> push(std::span<Claim> claims, Duration hold, Duration) override {
    called("push");
    return on_push ? on_push(claims, hold) : std::vector<Pushed>(claims.size(), Pushed::kHeld);
  }
  Result<bool> succeeded(const Claim&, Duration) override { return true; }
  Result<std::optional<AfterFailure>> failed(const Claim&, Duration) override {
    return std::optional<AfterFailure>();
  }
  Result<std::vector<RowId>> open_rows_of(const std::string&, std::size_t, Duration) override {
    return std::vector<RowId>();
  }
  Result<Marked> mark_abnormal(const RowId&, const std::optional<std::string>&, Duration) override {
    return Marked{};
  }
  Result<std::int64_t> retry(const RowId&, Duration) override { return std::int64_t{0}; }
  Result<std::int64_t> processing_successful(const RowId&, Duration) override {
    return std::int64_t{0};
  }
  Result<std::optional<Row>> find(const RowId&, Duration) override { return std::optional<Row>(); }
  Result<TimePoint> now(Duration) override { return TimePoint(); }
  Result<std::vector<ListedRow>> list(const ListQuery&, Duration) override {
    return std::vector<ListedRow>();
  }
  Result<std::vector<Row>> rows(const ListQuery&, Duration) override { return std::vector<Row>(); }
  Result<std::int64_t> count(const ListQuery&, Duration) override { return std::int64_t{0}; }
  Result<TableReport> report(Duration) override { return TableReport{}; }
  Result<RowId> parse_id(const std::string& text) override { return RowId(text); }

 private:
  void called(std::string verb) {
    const MutexLock lock(mutex_);
    calls_.push_back(std::move(verb));
  }

  const GuardSettings settings_;
  mutable Mutex mutex_;
  std::vector<std::string> calls_ GUARDED_BY(mutex_);
};

}  // namespace recourse::guard
