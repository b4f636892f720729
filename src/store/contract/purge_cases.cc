// purge: what is finished is forgotten in time; failures only when a person says so.
#include <algorithm>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PurgeRequest by_retention() {
  PurgeRequest request;
  request.by = "alice";
  return request;
}

PurgeRequest by_state(State state, TimePoint before) {
  PurgeRequest request = by_retention();
  request.states = {state};
  request.ended_before = before;
  return request;
}

TEST_P(StoreContract, NothingIsPurgedRightAfterItIsFinished) {
  for (const State state : task::kAllStates) in_state(state);

  EXPECT_EQ(must(store().purge(by_retention(), kWithin)), 0U);
  EXPECT_THAT(listed(), SizeIs(task::kAllStates.size()));
}

TEST_P(StoreContract, WhatIsPastItsRetentionIsPurged) {
  const Task old = running();
  apply_one(plan(old, Move::kSucceed, store_now() - 24h * 365 * 20));
  const Task fresh = in_state(State::kSucceeded);

  EXPECT_EQ(must(store().purge(by_retention(), kWithin)), 1U);
  EXPECT_EQ(code_of(reader().find(old.id, kWithin)), ErrorCode::kNotFound);
  EXPECT_EQ(row(fresh.id), fresh);
}

TEST_P(StoreContract, FailuresHaveNoRetention) {
  const Task dead = running();
  apply_one(plan(dead, Move::kGiveUp, store_now() - 24h * 365 * 20));
  const Task failed = running();
  apply_one(plan(failed, Move::kFail, store_now() - 24h * 365 * 20));

  EXPECT_EQ(must(store().purge(by_retention(), kWithin)), 0U);
  EXPECT_EQ(row(dead.id).state, State::kDead);
  EXPECT_EQ(row(failed.id).state, State::kFailed);
}

TEST_P(StoreContract, APersonPurgesExactlyTheStatesNamed) {
  for (const State state : task::kAllStates) {
    if (!is_finished(state) && !needs_person(state)) continue;
    for (const State each : task::kAllStates) in_state(each);
    const TimePoint later = store_now() + kHour;

    EXPECT_EQ(must(store().purge(by_state(state, later), kWithin)), 1U) << to_string(state);

    EXPECT_EQ(count_of(state), 0);
    EXPECT_THAT(listed(), SizeIs(task::kAllStates.size() - 1));
    for (const Task& task : listed()) {
      if (!is_finished(task.state) && !needs_person(task.state)) {
        must(control(task.id, Move::kCancel));
        if (task.state == State::kRunning) settle(task, Move::kRelease);
      }
    }
    PurgeRequest all = by_state(State::kDead, later);
    all.states = {State::kDead,      State::kFailed,   State::kSucceeded,
                  State::kCancelled, State::kResolved, State::kIgnored};
    (void)must(store().purge(all, kWithin));
    EXPECT_THAT(listed(), IsEmpty());
  }
}

TEST_P(StoreContract, OnlyWhatEndedBeforeIsPurged) {
  const TimePoint now = store_now();
  const Task early = running();
  apply_one(plan(early, Move::kGiveUp, now - 2h));
  const Task border = running();
  apply_one(plan(border, Move::kGiveUp, now - 1h));

  EXPECT_EQ(must(store().purge(by_state(State::kDead, now - 1h), kWithin)), 1U);
  EXPECT_EQ(code_of(reader().find(early.id, kWithin)), ErrorCode::kNotFound);
  EXPECT_EQ(row(border.id).state, State::kDead);
}

TEST_P(StoreContract, APurgeMayBeOfOneKind) {
  in_state(State::kSucceeded, spec_of("mail"));
  const Task sms = in_state(State::kSucceeded, spec_of("sms"));
  PurgeRequest request = by_state(State::kSucceeded, store_now() + kHour);
  request.kind = Kind("mail");

  EXPECT_EQ(must(store().purge(request, kWithin)), 1U);
  EXPECT_THAT(ids_of(listed()), ElementsAre(sms.id));
}

TEST_P(StoreContract, LiveTasksCannotBePurged) {
  const TaskId id = submit();

  EXPECT_EQ(code_of(store().purge(by_state(State::kPending, store_now() + kHour), kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(row(id).state, State::kPending);
}

TEST_P(StoreContract, APurgeKeepsToItsLimitAndGoesOn) {
  submit_many(25);
  for (const Task& task : claim(25)) settle(task, Move::kSucceed);
  PurgeRequest request = by_state(State::kSucceeded, store_now() + kHour);
  request.limit = 10;

  EXPECT_EQ(must(store().purge(request, kWithin)), 10U);
  EXPECT_EQ(count_of(State::kSucceeded), 15);
  EXPECT_EQ(must(store().purge(request, kWithin)), 10U);
  EXPECT_EQ(must(store().purge(request, kWithin)), 5U);
  EXPECT_EQ(must(store().purge(request, kWithin)), 0U);
}

TEST_P(StoreContract, APurgeForgetsAllThatIsRememberedOfATask) {
  for (const Move move : {Move::kSucceed, Move::kGiveUp}) {
    TaskSpec spec = keyed("k");
    spec.search_keys = {{"order", "o-1"}};
    Task task = running(spec);
    const Transition retry = plan(task, Move::kRetryHere, store_now());
    apply_one(retry, attempt_of(task, retry, 1));
    must(control(task.id, Move::kRetryNow));
    settle(row(task.id), move);
    const State state = row(task.id).state;

    EXPECT_EQ(must(store().purge(by_state(state, store_now() + kHour), kWithin)), 1U);

    Filter filter;
    filter.search_key = {"order", "o-1"};
    EXPECT_THAT(listed(filter), IsEmpty());
    EXPECT_EQ(code_of(reader().find(task.id, kWithin)), ErrorCode::kNotFound);
    EXPECT_THAT(reader().attempts(task.id, kWithin).value_or(std::vector<Attempt>{}), IsEmpty());
    EXPECT_THAT(audit_of(task.id), IsEmpty());
    EXPECT_EQ(count_of(state), 0);
  }
}

TEST_P(StoreContract, APurgedFailureFreesItsKey) {
  in_state(State::kDead, keyed("k"));
  (void)must(store().purge(by_state(State::kDead, store_now() + kHour), kWithin));

  submit(keyed("k"));
}

TEST_P(StoreContract, APurgedSuccessDoesNotFreeItsSuccessorsKey) {
  in_state(State::kSucceeded, keyed("k"));
  const TaskId successor = submit(keyed("k"));
  (void)must(store().purge(by_state(State::kSucceeded, store_now() + kHour), kWithin));

  EXPECT_EQ(insert_one(pending(new_id(), keyed("k"))).task, successor);
}

TEST_P(StoreContract, APurgeLeavesOneAuditRow) {
  submit_many(5);
  for (const Task& task : claim(5)) settle(task, Move::kSucceed);
  (void)must(store().purge(by_state(State::kSucceeded, store_now() + kHour), kWithin));

  const std::vector<AuditEntry> entries = audit_of(std::nullopt);

  EXPECT_EQ(std::ranges::count(entries, "purge", &AuditEntry::action), 1);
  EXPECT_EQ(entries.at(0).action, "purge");
  EXPECT_EQ(entries.at(0).actor, "alice");
  EXPECT_EQ(entries.at(0).task, std::nullopt);
}

}  // namespace
}  // namespace recourse::store::contract
