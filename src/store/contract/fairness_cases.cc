// claim: who goes first, and that nobody waits for ever.
#include <algorithm>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::ptrdiff_t of(const std::vector<Task>& tasks, const std::string& tenant) {
  return std::ranges::count(tasks, Tenant(tenant), [](const Task& t) { return t.spec.tenant; });
}

ClaimRequest fair_claim(Owner owner, LeaseId lease, int limit, int tenant_max) {
  return claim_request(std::move(owner), lease,
                       {{.kind = Kind("mail"), .limit = limit, .tenant_max = tenant_max}}, limit);
}

TEST_P(StoreContract, LargerPrioritiesGoFirst) {
  // The urgent ones are the oldest too, so that the tenth for the oldest changes nothing.
  const TaskId urgent = submit(prioritised(10));
  const TaskId normal = submit(prioritised(5));
  const TaskId idle = submit(prioritised(0));

  EXPECT_THAT(ids_of(claim(1)), ElementsAre(urgent));
  EXPECT_THAT(ids_of(claim(1)), ElementsAre(normal));
  EXPECT_THAT(ids_of(claim(1)), ElementsAre(idle));
}

TEST_P(StoreContract, LargerPrioritiesGoFirstThoughTheyCameLater) {
  submit_many(100, prioritised(1));
  submit_many(100, prioritised(9));

  const std::vector<Task> tasks = claim(100);

  EXPECT_EQ(std::ranges::count(tasks, 9, [](const Task& t) { return t.spec.priority; }), 90)
      << "all but the tenth that goes to the oldest";
}

TEST_P(StoreContract, ATenthOfABatchGoesToTheOldestOfAnyPriority) {
  const TaskId oldest = submit(prioritised(0));
  submit_many(50, prioritised(10));

  EXPECT_THAT(ids_of(claim(10)), Contains(oldest));
}

TEST_P(StoreContract, EvenSmallClaimsComeToTheOldestInTheEnd) {
  for (const int limit : {1, 2, 5, 9}) {
    const TaskId oldest = submit(prioritised(0));
    submit_many(100, prioritised(10));

    bool taken = false;
    for (int batch = 0; batch < 10 && !taken; ++batch) {
      const std::vector<TaskId> ids = ids_of(claim(limit));
      EXPECT_EQ(ids.size(), static_cast<std::size_t>(limit));
      taken = std::ranges::find(ids, oldest) != ids.end();
    }

    EXPECT_TRUE(taken) << "starved by claims of " << limit;
    claim(500);
  }
}

TEST_P(StoreContract, TheTenthGoesToWhatIsDueOnly) {
  submit(prioritised(0), kHour);
  submit_many(10, prioritised(10));

  EXPECT_THAT(claim(10), SizeIs(10));
}

TEST_P(StoreContract, TheOldestIsReachedWhereTheLimitIsBelowTheQuota) {
  const TaskId oldest = submit(prioritised(0));
  submit_many(300, prioritised(10));

  bool taken = false;
  for (int batch = 0; batch < 10 && !taken; ++batch) {
    const std::vector<Task> tasks =
        must(store().claim(claim_request(Owner(node()), new_lease(),
                                         {{.kind = Kind("mail"), .limit = 100}}, 10),
                           kWithin))
            .tasks;
    taken = std::ranges::find(tasks, oldest, &Task::id) != tasks.end();
  }

  EXPECT_TRUE(taken);
}

TEST_P(StoreContract, TheOldestIsReachedWhereKindsCompeteForTheLimit) {
  const TaskId oldest = submit(prioritised(0));
  submit_many(300, prioritised(10));
  submit_many(300, spec_of("sms"));

  bool taken = false;
  for (int batch = 0; batch < 10 && !taken; ++batch) {
    const std::vector<Task> tasks =
        must(store().claim(
                 claim_request(
                     Owner(node()), new_lease(),
                     {{.kind = Kind("mail"), .limit = 10}, {.kind = Kind("sms"), .limit = 10}}, 10),
                 kWithin))
            .tasks;
    taken = std::ranges::find(tasks, oldest, &Task::id) != tasks.end();
  }

  EXPECT_TRUE(taken);
}

TEST_P(StoreContract, AMassOfOneTenantDoesNotHideAnother) {
  submit_many(300, of_tenant("a"));
  submit_many(10, of_tenant("b"));

  const std::vector<Task> tasks =
      must(store().claim(fair_claim(Owner(node()), new_lease(), 100, 50), kWithin)).tasks;

  EXPECT_EQ(of(tasks, "b"), 10);
  EXPECT_EQ(of(tasks, "a"), 90) << "capacity that nobody else wants is not wasted";
}

TEST_P(StoreContract, TenantsThatAllWaitShareAClaim) {
  submit_many(100, of_tenant("a"));
  submit_many(100, of_tenant("b"));
  submit_many(100, of_tenant("c"));

  const std::vector<Task> tasks =
      must(store().claim(fair_claim(Owner(node()), new_lease(), 90, 30), kWithin)).tasks;

  EXPECT_EQ(of(tasks, "a"), 30);
  EXPECT_EQ(of(tasks, "b"), 30);
  EXPECT_EQ(of(tasks, "c"), 30);
}

TEST_P(StoreContract, WithoutATenantMaximumTheFirstIsServedFirst) {
  submit_many(50, of_tenant("a"));
  submit_many(50, of_tenant("b"));

  EXPECT_EQ(of(claim(50), "a"), 50);
}

TEST_P(StoreContract, ALonelyTenantIsNotHeldBackByItsMaximum) {
  submit_many(100, of_tenant("a"));

  EXPECT_THAT(must(store().claim(fair_claim(Owner(node()), new_lease(), 80, 5), kWithin)).tasks,
              SizeIs(80));
}

TEST_P(StoreContract, AFairClaimTakesOnlyWhatIsDueAndNamed) {
  submit(of_tenant("a"), kHour);
  TaskSpec sms = of_tenant("a");
  sms.kind = Kind("sms");
  submit(sms);
  const TaskId a = submit(of_tenant("a"));
  const TaskId b = submit(of_tenant("b"));

  const std::vector<Task> tasks =
      must(store().claim(fair_claim(Owner(node()), new_lease(), 100, 1), kWithin)).tasks;

  EXPECT_THAT(ids_of(tasks), UnorderedElementsAre(a, b));
  EXPECT_EQ(row(a).owner, Owner(node()));
}

TEST_P(StoreContract, TenantsArePickedOldestFirst) {
  const std::vector<TaskId> a = submit_many(3, of_tenant("a"));
  const TaskId b = submit(of_tenant("b"));

  const std::vector<Task> tasks =
      must(store().claim(fair_claim(Owner(node()), new_lease(), 2, 1), kWithin)).tasks;

  EXPECT_EQ(of(tasks, "a"), 1);
  EXPECT_THAT(ids_of(tasks), Contains(b));
}

TEST_P(StoreContract, AFairClaimTakesOverEndedLeases) {
  const TaskId id = submit(of_tenant("a"));
  lease("w", kInstant);

  const std::vector<Task> tasks =
      must(store().claim(fair_claim(Owner(node()), new_lease(), 10, 1), kWithin)).tasks;

  EXPECT_THAT(ids_of(tasks), ElementsAre(id));
}

}  // namespace
}  // namespace recourse::store::contract
