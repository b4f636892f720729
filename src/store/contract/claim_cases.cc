// claim: what is due, once, to one owner.
#include <algorithm>
#include <set>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST_P(StoreContract, AClaimNamesTheOwnerAndRaisesTheFence) {
  const TaskId id = submit();
  const Task before = row(id);
  const LeaseId lease = new_lease();

  const Claimed claimed = must(store().claim(
      claim_request(Owner(node()), lease, {{.kind = Kind("mail"), .limit = 5}}, 5), kWithin));

  const Task expected = task::apply(
      before, task::Claim{.owner = Owner(node()), .lease = lease, .lease_end = std::nullopt});
  EXPECT_THAT(claimed.tasks, ElementsAre(expected));
  EXPECT_EQ(row(id), expected);
  EXPECT_GE(claimed.now, before.created_at);
}

TEST_P(StoreContract, ASecondClaimFindsNothing) {
  submit_many(3);
  EXPECT_THAT(claim(10), SizeIs(3));

  EXPECT_THAT(claim(10), IsEmpty());
  EXPECT_THAT(claim_by(Owner(join()), 10), IsEmpty());
}

TEST_P(StoreContract, NothingIsClaimedBeforeItsTime) {
  submit(spec_of(), kHour);
  const TaskId due = submit();

  EXPECT_THAT(ids_of(claim(10)), ElementsAre(due));
}

TEST_P(StoreContract, OnlyNamedKindsAreClaimed) {
  submit(spec_of("mail"));
  const TaskId sms = submit(spec_of("sms"));
  submit(spec_of("push"));

  EXPECT_THAT(ids_of(claim(10, "sms")), ElementsAre(sms));
}

TEST_P(StoreContract, EachKindIsClaimedUpToItsQuota) {
  submit_many(5, spec_of("mail"));
  submit_many(5, spec_of("sms"));

  const std::vector<Task> tasks =
      must(store().claim(
               claim_request(
                   Owner(node()), new_lease(),
                   {{.kind = Kind("mail"), .limit = 2}, {.kind = Kind("sms"), .limit = 3}}, 10),
               kWithin))
          .tasks;

  EXPECT_EQ(std::ranges::count(tasks, Kind("mail"), [](const Task& t) { return t.spec.kind; }), 2);
  EXPECT_EQ(std::ranges::count(tasks, Kind("sms"), [](const Task& t) { return t.spec.kind; }), 3);
}

TEST_P(StoreContract, AQuotaOfZeroClaimsNothingOfItsKind) {
  submit(spec_of("mail"));
  const TaskId sms = submit(spec_of("sms"));

  const std::vector<Task> tasks =
      must(store().claim(
               claim_request(
                   Owner(node()), new_lease(),
                   {{.kind = Kind("mail"), .limit = 0}, {.kind = Kind("sms"), .limit = 5}}, 10),
               kWithin))
          .tasks;

  EXPECT_THAT(ids_of(tasks), ElementsAre(sms));
}

TEST_P(StoreContract, AllKindsTogetherAreClaimedUpToTheLimit) {
  submit_many(5, spec_of("mail"));
  submit_many(5, spec_of("sms"));
  const ClaimRequest request =
      claim_request(Owner(node()), new_lease(),
                    {{.kind = Kind("mail"), .limit = 5}, {.kind = Kind("sms"), .limit = 5}}, 7);

  EXPECT_THAT(must(store().claim(request, kWithin)).tasks, SizeIs(7));
  EXPECT_THAT(must(store().claim(request, kWithin)).tasks, SizeIs(3));
}

TEST_P(StoreContract, KindsAreAskedInTheOrderGiven) {
  submit_many(5, spec_of("mail"));
  const std::vector<TaskId> sms = submit_many(3, spec_of("sms"));

  const std::vector<Task> tasks =
      must(store().claim(
               claim_request(
                   Owner(node()), new_lease(),
                   {{.kind = Kind("sms"), .limit = 5}, {.kind = Kind("mail"), .limit = 5}}, 4),
               kWithin))
          .tasks;

  EXPECT_EQ(std::ranges::count(tasks, Kind("sms"), [](const Task& t) { return t.spec.kind; }), 3);
}

TEST_P(StoreContract, TheOldestDueComesFirstWithinAPriority) {
  const std::vector<TaskId> ids = submit_many(4);
  const std::vector<Task> tasks = claim(4);
  const TimePoint now = store_now();
  // Due in the order against that of their ids.
  for (const Task& task : tasks) {
    const auto place = std::ranges::find(ids, task.id) - ids.begin();
    Transition retry = plan(task, Move::kRetry, now);
    retry.due_at = now - place * 1min;
    apply_one(retry);
  }

  EXPECT_EQ(claim_one().id, ids[3]);
  EXPECT_THAT(ids_of(claim(2)), UnorderedElementsAre(ids[2], ids[1]));
  EXPECT_EQ(claim_one().id, ids[0]);
}

TEST_P(StoreContract, AClaimCarriesEverythingThatARunNeeds) {
  TaskSpec spec = keyed("k");
  spec.tenant = Tenant("acme");
  spec.shard_key = task::ShardKey("s-1");
  spec.payload = std::string("{\"big\": 12345678901234567890}\0tail", 34);
  spec.headers = {{"X-Request", "r-1"}};
  spec.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  spec.search_keys = {{"member", "m-1"}, {"order", "o-1"}};
  spec.max_retries = 9;
  spec.timeout = 1'500ms;
  spec.backoff = "slow";
  submit(spec);

  const Task task = claim_one();

  EXPECT_EQ(task.spec, spec);
}

TEST_P(StoreContract, OnlyWhatWaitsIsClaimed) {
  for (const State state : task::kAllStates) {
    if (state != State::kPending) in_state(state);
  }
  EXPECT_THAT(claim(100), IsEmpty());
}

TEST_P(StoreContract, EveryClaimRaisesTheFence) {
  const TaskId id = submit();
  for (std::int64_t fence = 1; fence < 20; fence += 2) {
    const Task task = claim_one();
    EXPECT_EQ(task.ticket.fence, task::Fence(fence));
    settle(task, Move::kRelease);
    EXPECT_EQ(row(id).ticket.fence, task::Fence(fence + 1));
  }
}

TEST_P(StoreContract, ALiveNodesTaskIsNotTakenHoweverLongItIsOverdue) {
  const Task task = running();
  Transition sticky = plan(task, Move::kRetryHere, store_now());
  sticky.due_at = store_now() - 24h;
  apply_one(sticky);

  EXPECT_THAT(claim_by(Owner(join()), 10), IsEmpty());
  EXPECT_THAT(lease("w", kHour, 10), IsEmpty());
}

TEST_P(StoreContract, ShardsDivideTheWorkWithoutGapOrOverlap) {
  std::vector<Submission> batch;
  for (int i = 0; i < 200; ++i) {
    TaskSpec spec = spec_of();
    spec.shard_key = task::ShardKey("shard-" + std::to_string(i));
    batch.push_back(pending(new_id(), spec));
  }
  insert(batch);
  ClaimRequest request =
      claim_request(Owner(node()), new_lease(), {{.kind = Kind("mail"), .limit = 500}}, 500);

  request.shards = {.first = 0, .last = kShards / 2 - 1};
  const std::vector<Task> lower = must(store().claim(request, kWithin)).tasks;
  request.shards = {.first = kShards / 2, .last = kShards - 1};
  const std::vector<Task> upper = must(store().claim(request, kWithin)).tasks;

  EXPECT_GT(lower.size(), 50U);
  EXPECT_GT(upper.size(), 50U);
  EXPECT_EQ(lower.size() + upper.size(), batch.size());
}

TEST_P(StoreContract, OneShardKeyFallsIntoOneShard) {
  TaskSpec spec = spec_of();
  spec.shard_key = task::ShardKey("member-7");
  submit_many(20, spec);
  ClaimRequest request =
      claim_request(Owner(node()), new_lease(), {{.kind = Kind("mail"), .limit = 500}}, 500);

  std::set<std::size_t> sizes;
  for (int shard = 0; shard < kShards; ++shard) {
    request.shards = {.first = shard, .last = shard};
    sizes.insert(must(store().claim(request, kWithin)).tasks.size());
  }

  EXPECT_EQ(sizes, (std::set<std::size_t>{0, 20}));
}

TEST_P(StoreContract, AClaimOfManyHandsOutExactlyWhatIsThere) {
  const std::vector<TaskId> ids = submit_many(1'200);
  std::vector<TaskId> claimed;
  for (std::vector<Task> tasks = claim(500); !tasks.empty(); tasks = claim(500)) {
    for (const Task& task : tasks) claimed.push_back(task.id);
  }

  std::ranges::sort(claimed);
  EXPECT_EQ(claimed, ids);
}

}  // namespace
}  // namespace recourse::store::contract
