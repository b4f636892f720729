#include "store/contract/contract.h"

#include <algorithm>

namespace recourse::store::contract {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

namespace {

using namespace std::chrono_literals;

// Long before any store's own clock: a store that took an id's time for its own would show here.
constexpr TimePoint kIdsMadeAt{1'700'000'000s};

}  // namespace

TaskSpec spec_of(std::string kind) {
  TaskSpec spec;
  spec.kind = Kind(std::move(kind));
  return spec;
}

TaskSpec keyed(std::string key, std::string kind) {
  TaskSpec spec = spec_of(std::move(kind));
  spec.unique_key = UniqueKey(std::move(key));
  return spec;
}

TaskSpec prioritised(int priority) {
  TaskSpec spec = spec_of();
  spec.priority = priority;
  return spec;
}

TaskSpec of_tenant(std::string tenant) {
  TaskSpec spec = spec_of();
  spec.tenant = Tenant(std::move(tenant));
  return spec;
}

Submission pending(TaskId id, TaskSpec spec, Duration delay) {
  return {.id = id, .spec = std::move(spec), .delay = delay, .claim = std::nullopt};
}

std::vector<TaskId> ids_of(const std::vector<Task>& tasks) {
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  for (const Task& task : tasks) ids.push_back(task.id);
  return ids;
}

Held held(const Task& task) { return {.task = task.id, .ticket = task.ticket}; }

Attempt attempt_of(const Task& task, const Transition& outcome, int number) {
  Attempt attempt;
  attempt.task = task.id;
  attempt.number = number;
  attempt.started_at = outcome.at - 3s;
  attempt.ended_at = outcome.at;
  attempt.owner = task.owner ? to_string(*task.owner) : "";
  attempt.fence = task.ticket.fence;
  attempt.decision = outcome.move;
  attempt.error = outcome.error;
  if (outcome.to == State::kPending || outcome.to == State::kRunning) {
    attempt.next_due = outcome.due_at;
  }
  return attempt;
}

Outcome outcome_of(const Task& task, Move move, TimePoint now) {
  return {.transition = plan(task, move, now), .attempt = std::nullopt};
}

task::Order order_of(Move move) {
  task::Order order;
  order.move = move;
  return order;
}

ClaimRequest claim_request(Owner owner, LeaseId lease, std::vector<Quota> quotas, int limit) {
  ClaimRequest request;
  request.owner = std::move(owner);
  request.lease = lease;
  request.quotas = std::move(quotas);
  request.limit = limit;
  return request;
}

void StoreContract::SetUp() {
  here_ = GetParam().open_empty();
  ASSERT_NE(here_, nullptr) << GetParam().name << " does not answer; ./dev test starts the servers";
  node_ = join("first");
}

StoreUnderTest& StoreContract::beside() {
  if (!asked_beside_) beside_ = here_->reopen_beside();
  asked_beside_ = true;
  return beside_ ? *beside_ : *here_;
}

Ulid StoreContract::new_ulid() {
  MutexLock lock(ids_mutex_);
  return ids_.next(kIdsMadeAt);
}

InsertAnswer StoreContract::insert(const std::vector<Submission>& batch, Novelty novelty) {
  InsertAnswer answer = must(store().insert(batch, novelty, kWithin));
  EXPECT_EQ(answer.items.size(), batch.size());
  return answer;
}

Inserted StoreContract::insert_one(const Submission& item, Novelty novelty) {
  return insert({item}, novelty).items.at(0);
}

TaskId StoreContract::submit(const TaskSpec& spec, Duration delay) {
  const Inserted inserted = insert_one(pending(new_id(), spec, delay));
  EXPECT_EQ(inserted.result, Insertion::kInserted);
  return inserted.task;
}

std::vector<TaskId> StoreContract::submit_many(std::size_t count, const TaskSpec& spec) {
  std::vector<TaskId> ids;
  while (ids.size() < count) {
    std::vector<Submission> batch;
    for (std::size_t i = ids.size(); i < count && batch.size() < kBatchRowsMax; ++i) {
      batch.push_back(pending(new_id(), spec));
    }
    for (const Inserted& item : insert(batch).items) {
      EXPECT_EQ(item.result, Insertion::kInserted);
      ids.push_back(item.task);
    }
  }
  return ids;
}

Submission StoreContract::born(TaskSpec spec, std::optional<Incarnation> owner) {
  Submission item = pending(new_id(), std::move(spec));
  item.claim = BirthClaim{.owner = owner.value_or(node_), .lease = new_lease()};
  return item;
}

Task StoreContract::running(const TaskSpec& spec, std::optional<Incarnation> owner) {
  const Inserted inserted = insert_one(born(spec, owner));
  EXPECT_EQ(inserted.result, Insertion::kInserted);
  return row(inserted.task);
}

Task StoreContract::in_state(State state, const TaskSpec& spec) {
  const auto settled = [&](Move move) {
    const Task task = running(spec);
    EXPECT_EQ(settle(task, move).state, state);
    return row(task.id);
  };
  const auto ordered = [&](Move move) {
    const TaskId id = submit(spec);
    EXPECT_EQ(must(control(id, move)), Effect::kDone);
    return row(id);
  };
  switch (state) {
    case State::kPending: return row(submit(spec));
    case State::kRunning: return running(spec);
    case State::kPaused: return ordered(Move::kPause);
    case State::kSucceeded: return settled(Move::kSucceed);
    case State::kFailed: return settled(Move::kFail);
    case State::kDead: return settled(Move::kGiveUp);
    case State::kCancelled: return ordered(Move::kCancel);
    case State::kResolved: return ordered(Move::kResolve);
    case State::kIgnored: return ordered(Move::kIgnore);
  }
  std::abort();
}

std::vector<Task> StoreContract::claim(int limit, const std::string& kind) {
  return claim_by(Owner(node_), limit, kind);
}

std::vector<Task> StoreContract::claim_by(const Owner& owner, int limit, const std::string& kind) {
  const std::vector<Quota> quotas{{.kind = Kind(kind), .limit = limit}};
  return must(store().claim(claim_request(owner, new_lease(), quotas, limit), kWithin)).tasks;
}

Task StoreContract::claim_one(const std::string& kind) { return claim(1, kind).at(0); }

std::vector<Task> StoreContract::lease(const std::string& worker, Duration lease_for, int limit,
                                       const std::string& kind) {
  ClaimRequest request = claim_request(Owner(WorkerName(worker)), new_lease(),
                                       {{.kind = Kind(kind), .limit = limit}}, limit);
  request.lease_for = lease_for;
  const Claimed claimed = must(store().claim(request, kWithin));
  if (lease_for == kInstant) pass(claimed.now + lease_for);
  return claimed.tasks;
}

Applied StoreContract::apply_one(const Transition& transition, std::optional<Attempt> attempt) {
  const std::vector<Outcome> batch{{.transition = transition, .attempt = std::move(attempt)}};
  return must(store().apply(batch, kWithin)).at(0);
}

Applied StoreContract::settle(const Task& task, Move move) {
  Transition transition = plan(task, move, store_now());
  if (move != Move::kSucceed) transition.error = task::Reason{"TIMEOUT", "no answer within 10s"};
  return apply_one(transition);
}

Result<Effect> StoreContract::control(TaskId id, const task::Order& order, std::string_view by) {
  const ControlAnswer answer = must(store().control(std::vector{id}, order, by, kWithin));
  EXPECT_EQ(answer.next, std::nullopt);
  EXPECT_EQ(answer.items.at(0).task, id);
  return answer.items.at(0).effect;
}

Incarnation StoreContract::join(const std::string& name) {
  const Incarnation incarnation(new_ulid());
  (void)must(
      store().join({.incarnation = incarnation, .name = name, .kinds = {Kind("mail")}}, kWithin));
  return incarnation;
}

NodeRow StoreContract::node_row(Incarnation node) {
  const std::vector<NodeRow> rows = must(reader().nodes(kWithin));
  const auto found =
      std::ranges::find(rows, node, [](const NodeRow& row) { return row.info.incarnation; });
  EXPECT_NE(found, rows.end()) << "the node has no row";
  return found == rows.end() ? NodeRow{} : *found;
}

void StoreContract::kill(Incarnation node) {
  const std::int64_t beat = node_row(node).beat;
  EXPECT_TRUE(must(store().declare_dead(node, beat, "first", kWithin)));
}

std::size_t StoreContract::adopt_all() {
  std::size_t tasks = 0;
  for (int calls = 0; calls < 1'000; ++calls) {
    const Adopted adopted = must(store().adopt("first", kWithin));
    tasks += adopted.tasks;
    if (!adopted.more) return tasks;
  }
  ADD_FAILURE() << "adoption does not come to an end";
  return tasks;
}

TimePoint StoreContract::store_now() {
  const std::vector<Quota> none{{.kind = Kind("a kind that nobody submits"), .limit = 1}};
  return must(store().claim(claim_request(Owner(node_), new_lease(), none, 1), kWithin)).now;
}

void StoreContract::pass(TimePoint time) {
  constexpr int kLooks = 100'000;
  for (int i = 0; i < kLooks; ++i) {
    if (store_now() > time) return;
  }
  ADD_FAILURE() << "the store's clock stands still";
}

std::vector<Task> StoreContract::listed(const Filter& filter, std::size_t page) {
  std::vector<Task> all;
  std::optional<TaskId> after;
  do {
    TaskPage next = must(reader().list(filter, after, page, kWithin));
    EXPECT_LE(next.tasks.size(), page);
    EXPECT_TRUE(!next.next || next.next != after) << "the cursor does not move";
    all.insert(all.end(), next.tasks.begin(), next.tasks.end());
    after = next.next;
  } while (after);
  return all;
}

std::vector<Case> StoreContract::all_cases() {
  std::vector<Case> all;
  std::optional<TaskId> after;
  do {
    CasePage page = must(cases().list(std::nullopt, after, kPageRowsMax, kWithin));
    all.insert(all.end(), page.cases.begin(), page.cases.end());
    after = page.next;
  } while (after);
  return all;
}

std::int64_t StoreContract::count_of(State state, const std::string& kind) {
  const Counts counts = must(reader().counts(kWithin));
  const auto found = counts.find({Kind(kind), state});
  return found == counts.end() ? 0 : found->second;
}

std::vector<AuditEntry> StoreContract::audit_of(std::optional<TaskId> id) {
  std::vector<AuditEntry> all;
  std::optional<std::int64_t> after;
  do {
    AuditPage page = must(reader().audit(id, after, kPageRowsMax, kWithin));
    all.insert(all.end(), page.entries.begin(), page.entries.end());
    after = page.next;
  } while (after);
  return all;
}

std::vector<std::string> StoreContract::actions_on(TaskId id) {
  std::vector<std::string> actions;
  for (const AuditEntry& entry : audit_of(id)) actions.push_back(entry.action);
  std::ranges::reverse(actions);
  return actions;
}

}  // namespace recourse::store::contract
