// The one suite that every store passes. It knows Store and Reader and nothing of any backend; a
// backend adds one INSTANTIATE_TEST_SUITE_P.
//
// Time is the store's own, so it is arranged by extremes: an hour's delay is not due, none is due,
// a lease of a microsecond is over. After every case the books are checked: counts equal rows, a
// case is open for each that waits for a person, and every row keeps the invariants of a task
// (TearDown).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/ulid.h"
#include "store/cases.h"
#include "store/contract/printing.h"
#include "store/creates.h"
#include "store/inbox.h"
#include "store/reader.h"
#include "store/records.h"
#include "store/store.h"
#include "task/transition.h"

namespace recourse::store::contract {

using task::Effect;
using task::Incarnation;
using task::Kind;
using task::LeaseId;
using task::Move;
using task::Owner;
using task::State;
using task::Task;
using task::TaskId;
using task::TaskSpec;
using task::Tenant;
using task::Transition;
using task::UniqueKey;
using task::WorkerName;
using task::WriteVerdict;

class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;

  virtual Store& store() = 0;
  virtual Reader& reader() = 0;
  virtual Records& records() = 0;
  virtual Cases& cases() = 0;
  virtual Creates& creates() = 0;
  virtual Inbox& inbox() = 0;
  // A case of three reminders, due since 1970, which a node of a version without cases left behind.
  virtual void leave_case(TaskId task) = 0;
  // A second handle on the same data, as another node has one; null where one process owns the
  // data, and then the cases use the one handle twice.
  virtual std::unique_ptr<StoreUnderTest> reopen_beside() = 0;
};

struct StoreBackend {
  std::string name;
  // A fresh, isolated store at each call.
  std::function<std::unique_ptr<StoreUnderTest>()> open_empty;
};

inline std::string backend_name(const testing::TestParamInfo<StoreBackend>& info) {
  return info.param.name;
}

// GoogleTest finds it by its name.
// NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(const StoreBackend& backend, std::ostream* out) { *out << backend.name; }

inline constexpr Duration kWithin = std::chrono::minutes(1);
inline constexpr Duration kHour = std::chrono::hours(1);
// Over by the time of the next call.
inline constexpr Duration kInstant = std::chrono::microseconds(1);

// The value, or the case ends with the error shown at the line that asked.
template <class T>
T must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result) {
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
        << to_string(result.error().code) << ": " << result.error().message;
  }
  return std::move(result).value();
}

template <class T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

TaskSpec spec_of(std::string kind = "mail");
TaskSpec keyed(std::string key, std::string kind = "mail");
TaskSpec prioritised(int priority);
TaskSpec of_tenant(std::string tenant);

Submission pending(TaskId id, TaskSpec spec, Duration delay = {});
std::vector<TaskId> ids_of(const std::vector<Task>& tasks);
Held held(const Task& task);
// A failed attempt as an engine would write it beside `outcome`.
Attempt attempt_of(const Task& task, const Transition& outcome, int number);
// What an uneventful attempt ends in.
Outcome outcome_of(const Task& task, Move move, TimePoint now);
task::Order order_of(Move move);
ClaimRequest claim_request(Owner owner, LeaseId lease, std::vector<Quota> quotas, int limit);

class StoreContract : public testing::TestWithParam<StoreBackend> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Store& store() { return here_->store(); }
  Reader& reader() { return here_->reader(); }
  Records& records() { return here_->records(); }
  Cases& cases() { return here_->cases(); }
  Creates& creates() { return here_->creates(); }
  Inbox& inbox() { return here_->inbox(); }
  void leave_case(TaskId task) { here_->leave_case(task); }
  // As another node sees it.
  Store& other_store() { return beside().store(); }
  Records& other_records() { return beside().records(); }
  Cases& other_cases() { return beside().cases(); }
  Creates& other_creates() { return beside().creates(); }
  Inbox& other_inbox() { return beside().inbox(); }
  // Alive, and joined before the case begins.
  [[nodiscard]] Incarnation node() const { return node_; }

  // --- names; safe from any thread ---
  Ulid new_ulid();
  TaskId new_id() { return TaskId(new_ulid()); }
  LeaseId new_lease() { return LeaseId(new_ulid()); }

  // --- arranging work ---
  InsertAnswer insert(const std::vector<Submission>& batch, Novelty novelty = Novelty::kFresh);
  Inserted insert_one(const Submission& item, Novelty novelty = Novelty::kFresh);
  TaskId submit(const TaskSpec& spec = spec_of(), Duration delay = {});
  std::vector<TaskId> submit_many(std::size_t count, const TaskSpec& spec = spec_of());
  Submission born(TaskSpec spec = spec_of(), std::optional<Incarnation> owner = std::nullopt);
  // Born claimed, so that it is exactly this one, whatever else is due.
  Task running(const TaskSpec& spec = spec_of(), std::optional<Incarnation> owner = std::nullopt);
  Task in_state(State state, const TaskSpec& spec = spec_of());

  // --- claiming ---
  std::vector<Task> claim(int limit, const std::string& kind = "mail");
  std::vector<Task> claim_by(const Owner& owner, int limit, const std::string& kind = "mail");
  Task claim_one(const std::string& kind = "mail");
  // For a worker outside, with a lease of its own.
  std::vector<Task> lease(const std::string& worker, Duration lease_for, int limit = 1,
                          const std::string& kind = "mail");

  // --- writing ---
  Applied apply_one(const Transition& transition, std::optional<Attempt> attempt = std::nullopt);
  Applied settle(const Task& task, Move move);
  Result<Effect> control(TaskId id, const task::Order& order, std::string_view by = "alice");
  Result<Effect> control(TaskId id, Move move) { return control(id, order_of(move)); }

  // --- nodes ---
  Incarnation join(const std::string& name = "other");
  NodeRow node_row(Incarnation node);
  void kill(Incarnation node);
  // Until nothing is left; answers how many tasks.
  std::size_t adopt_all();

  // --- looking ---
  TimePoint store_now();
  // Returns once the store's clock is past `time`; for leases of a microsecond, not for waiting.
  void pass(TimePoint time);
  Task row(TaskId id) { return must(reader().find(id, kWithin)); }
  std::vector<Task> listed(const Filter& filter = {}, std::size_t page = kPageRowsMax);
  std::int64_t count_of(State state, const std::string& kind = "mail");
  // What the audit says of a task, oldest first.
  std::vector<std::string> actions_on(TaskId id);
  std::vector<AuditEntry> audit_of(std::optional<TaskId> id);
  std::vector<Case> all_cases();
  std::vector<Attempt> attempts_of(TaskId id) { return must(reader().attempts(id, kWithin)); }

 private:
  StoreUnderTest& beside();
  void expect_counts_equal_rows(const std::vector<Task>& tasks);
  void expect_cases_equal_rows(const std::vector<Task>& tasks);

  std::unique_ptr<StoreUnderTest> here_;
  std::unique_ptr<StoreUnderTest> beside_;
  bool asked_beside_ = false;
  Incarnation node_;
  Mutex ids_mutex_;
  UlidSequence ids_ GUARDED_BY(ids_mutex_){20'260'301};
};

}  // namespace recourse::store::contract
