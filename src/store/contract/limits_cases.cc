// Beyond a bound: kInvalid, and nothing changes.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StoreContract, ABatchOfTooManyTasksIsRefused) {
  std::vector<Submission> batch;
  for (std::size_t i = 0; i <= kBatchRowsMax; ++i) batch.push_back(pending(new_id(), spec_of()));

  EXPECT_EQ(code_of(store().insert(batch, Novelty::kFresh, kWithin)), ErrorCode::kInvalid);
  EXPECT_THAT(listed(), IsEmpty());

  batch.pop_back();
  EXPECT_THAT(insert(batch).items, SizeIs(kBatchRowsMax));
}

TEST_P(StoreContract, ABatchOfTooManyBytesIsRefused) {
  TaskSpec spec = spec_of();
  spec.payload.assign(task::kPayloadBytesMax, 'x');
  std::vector<Submission> batch;
  for (std::size_t bytes = 0; bytes <= kBatchBytesMax; bytes += spec.payload.size()) {
    batch.push_back(pending(new_id(), spec));
  }

  EXPECT_EQ(code_of(store().insert(batch, Novelty::kFresh, kWithin)), ErrorCode::kInvalid);
  EXPECT_THAT(listed(), IsEmpty());
}

TEST_P(StoreContract, ABatchOfTooManyOutcomesIsRefused) {
  submit_many(kBatchRowsMax);
  std::vector<Task> tasks = claim(static_cast<int>(kBatchRowsMax));
  tasks.push_back(running());
  std::vector<Outcome> batch;
  for (const Task& task : tasks) batch.push_back(outcome_of(task, Move::kSucceed, store_now()));

  EXPECT_EQ(code_of(store().apply(batch, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(count_of(State::kSucceeded), 0);
}

TEST_P(StoreContract, AClaimOfTooManyIsRefused) {
  submit();
  const int limit = static_cast<int>(kBatchRowsMax) + 1;

  EXPECT_EQ(code_of(store().claim(claim_request(Owner(node()), new_lease(),
                                                {{.kind = Kind("mail"), .limit = limit}}, limit),
                                  kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(count_of(State::kPending), 1);
}

TEST_P(StoreContract, AClaimOfAsManyKindsAsAllowedIsServed) {
  std::vector<Quota> quotas;
  for (std::size_t i = 0; i < kQuotasMax; ++i) {
    quotas.push_back({.kind = Kind("kind-" + std::to_string(i)), .limit = 1});
    submit(spec_of("kind-" + std::to_string(i)));
  }
  EXPECT_THAT(
      must(store().claim(claim_request(Owner(node()), new_lease(), quotas, 500), kWithin)).tasks,
      SizeIs(kQuotasMax));

  quotas.push_back({.kind = Kind("one more"), .limit = 1});
  EXPECT_EQ(code_of(store().claim(claim_request(Owner(node()), new_lease(), quotas, 500), kWithin)),
            ErrorCode::kInvalid);
}

TEST_P(StoreContract, AWorkerWithoutALeaseIsRefused) {
  submit();

  EXPECT_EQ(code_of(store().claim(claim_request(Owner(WorkerName("w")), new_lease(),
                                                {{.kind = Kind("mail"), .limit = 1}}, 1),
                                  kWithin)),
            ErrorCode::kInvalid)
      << "it would hold the task for ever";
}

TEST_P(StoreContract, APageOfTooManyIsRefused) {
  EXPECT_EQ(code_of(reader().list({}, std::nullopt, kPageRowsMax + 1, kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(reader().audit(std::nullopt, std::nullopt, kPageRowsMax + 1, kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(reader().held_by(Owner(node()), std::nullopt, kPageRowsMax + 1, kWithin)),
            ErrorCode::kInvalid);
}

TEST_P(StoreContract, AControlOfTooManyIsRefused) {
  std::vector<TaskId> ids = submit_many(kBatchRowsMax);
  ids.push_back(new_id());
  ByFilter which;
  which.as_of = store_now();
  which.limit = kBatchRowsMax + 1;

  EXPECT_EQ(code_of(store().control(ids, order_of(Move::kCancel), "alice", kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(store().control(which, order_of(Move::kCancel), "alice", kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(count_of(State::kCancelled), 0);

  ids.pop_back();
  EXPECT_THAT(must(store().control(ids, order_of(Move::kCancel), "alice", kWithin)).items,
              SizeIs(kBatchRowsMax));
}

TEST_P(StoreContract, APurgeOfTooManyIsRefused) {
  PurgeRequest request;
  request.by = "alice";
  request.limit = kPurgeRowsMax + 1;

  EXPECT_EQ(code_of(store().purge(request, kWithin)), ErrorCode::kInvalid);
}

TEST_P(StoreContract, APurgeAtItsLimitIsDone) {
  submit_many(kPurgeRowsMax);
  for (int i = 0; i < 2; ++i) {
    std::vector<Outcome> batch;
    for (const Task& task : claim(500)) batch.push_back(outcome_of(task, Move::kSucceed, {}));
    (void)must(store().apply(batch, kWithin));
  }
  PurgeRequest request;
  request.by = "alice";

  EXPECT_EQ(must(store().purge(request, kWithin)), kPurgeRowsMax);
}

TEST_P(StoreContract, DuplicatesAmongHeldTasksAreRefused) {
  const Task task = running();
  const std::vector<Held> twice{held(task), held(task)};

  EXPECT_EQ(code_of(store().record_starts(twice, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(store().renew(twice, kHour, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, NamesThatCouldNotBeStoredAreRefused) {
  const TaskId id = submit();
  const std::vector<TaskId> ids{id};
  const std::string bad = "al\xFFice";

  EXPECT_EQ(code_of(store().control(ids, order_of(Move::kPause), bad, kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(store().pause_kind(Kind("mail"), true, bad, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(store().join({.incarnation = Incarnation(new_ulid()), .name = bad, .kinds = {}},
                                 kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(row(id).state, State::kPending);
}

TEST_P(StoreContract, ALeaseHasBounds) {
  submit();
  for (const Duration bad : {Duration(0), Duration(-1), Duration(std::chrono::hours(25))}) {
    ClaimRequest request =
        claim_request(Owner(WorkerName("w")), new_lease(), {{.kind = Kind("mail"), .limit = 1}}, 1);
    request.lease_for = bad;
    EXPECT_EQ(code_of(store().claim(request, kWithin)), ErrorCode::kInvalid);
  }
  const Task task = lease("w", kHour).at(0);
  const std::vector<Held> batch{held(task)};
  EXPECT_EQ(code_of(store().renew(batch, Duration(0), kWithin)), ErrorCode::kInvalid);
}

TEST_P(StoreContract, ANodesKindsAreKinds) {
  const NodeInfo node{Incarnation(new_ulid()), "n", {Kind("a\xff")}};

  EXPECT_EQ(code_of(store().join(node, kWithin)), ErrorCode::kInvalid);
  EXPECT_TRUE(reader().nodes(kWithin).has_value());
}

TEST_P(StoreContract, AnAttemptIsOfTheTaskItComesWith) {
  const Task task = running();
  const Transition retry = task::plan(task, Move::kRetry, task.created_at);
  Attempt attempt = attempt_of(task, retry, 1);
  attempt.fence = task::Fence(9);

  EXPECT_EQ(code_of(store().apply(std::vector<Outcome>{{retry, attempt}}, kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(row(task.id), task);
}

}  // namespace
}  // namespace recourse::store::contract
