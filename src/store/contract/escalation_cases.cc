// Cases: opened and closed with the task, told by one, taken by people.
#include <set>
#include <thread>

#include "base/mutex.h"
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Ne;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<TaskId> tasks_of(const DueCases& due) {
  std::vector<TaskId> ids;
  for (const DueCase& one : due.items) ids.push_back(one.task.id);
  return ids;
}

PutOff told_of(const DueCase& due, Duration wait = kHour) {
  return {.held = due.held, .wait = wait};
}

TEST_P(StoreContract, WhatEscalatesIsDueAtOnceAndWithAllThatIsToBeTold) {
  const Task dead = in_state(State::kDead);
  const Task failed = in_state(State::kFailed);
  (void)in_state(State::kPaused);
  (void)in_state(State::kPending);
  (void)in_state(State::kSucceeded);

  const DueCases due = must(cases().take_due(10, kHour, kWithin));

  EXPECT_THAT(tasks_of(due), UnorderedElementsAre(dead.id, failed.id));
  const DueCase& first = due.items.front().task.id == dead.id ? due.items[0] : due.items[1];
  EXPECT_EQ(first.held.fence, dead.ticket.fence);
  EXPECT_EQ(first.held.opened_at, dead.ended_at);
  EXPECT_EQ(first.held.reminders, 0);
  EXPECT_EQ(first.held.remind_at, due.now + kHour);
  EXPECT_EQ(first.task.state, State::kDead);
  EXPECT_EQ(first.task.spec.kind, dead.spec.kind);
  EXPECT_EQ(first.task.last_error, dead.last_error);
}

TEST_P(StoreContract, ADueCaseIsHeldByOneUntilItsHoldIsOver) {
  const Task dead = in_state(State::kDead);
  EXPECT_THAT(must(cases().take_due(10, kHour, kWithin)).items, SizeIs(1));
  EXPECT_THAT(must(other_cases().take_due(10, kHour, kWithin)).items, IsEmpty());

  const Task second = in_state(State::kDead);
  const DueCases held = must(cases().take_due(10, kInstant, kWithin));
  EXPECT_THAT(tasks_of(held), ElementsAre(second.id));
  pass(held.now + kInstant);
  EXPECT_THAT(tasks_of(must(other_cases().take_due(10, kHour, kWithin))), ElementsAre(second.id))
      << "whoever had it never told";
}

TEST_P(StoreContract, WhatWasToldIsDueAgainAfterItsWait) {
  const Task dead = in_state(State::kDead);
  const DueCases first = must(cases().take_due(10, kHour, kWithin));

  EXPECT_THAT(must(cases().put_off(std::vector{told_of(first.items.at(0), kInstant)}, kWithin)),
              ElementsAre(Ne(std::nullopt)));
  const Case after = must(cases().find(dead.id, kWithin)).value();
  EXPECT_EQ(after.reminders, 1);
  pass(after.remind_at.value());
  const DueCases again = must(cases().take_due(10, kHour, kWithin));
  EXPECT_EQ(again.items.at(0).held.reminders, 1);
  EXPECT_THAT(must(cases().put_off(std::vector{told_of(again.items.at(0))}, kWithin)),
              ElementsAre(Ne(std::nullopt)));
  EXPECT_THAT(must(cases().take_due(10, kHour, kWithin)).items, IsEmpty());
  EXPECT_EQ(must(cases().find(dead.id, kWithin))->reminders, 2);
}

TEST_P(StoreContract, ACaseIsHeldForLongerWithoutCounting) {
  const Task dead = in_state(State::kDead);
  const DueCase due = must(cases().take_due(10, kHour, kWithin)).items.at(0);
  PutOff longer = told_of(due, 2 * kHour);
  longer.told = false;

  const auto until = must(cases().put_off(std::vector{longer}, kWithin)).at(0);

  EXPECT_GT(until.value(), due.held.remind_at.value());
  const Case after = must(cases().find(dead.id, kWithin)).value();
  EXPECT_EQ(after.remind_at, until);
  EXPECT_EQ(after.reminders, 0);
}

TEST_P(StoreContract, WhoToldTooLateChangesNothing) {
  const Task dead = in_state(State::kDead);
  const DueCases first = must(cases().take_due(10, kInstant, kWithin));
  pass(first.now + kInstant);
  const DueCases second = must(other_cases().take_due(10, kHour, kWithin));

  EXPECT_THAT(must(cases().put_off(std::vector{told_of(first.items.at(0))}, kWithin)),
              ElementsAre(std::nullopt));
  EXPECT_EQ(must(cases().find(dead.id, kWithin))->remind_at, second.items.at(0).held.remind_at);
  EXPECT_THAT(must(cases().put_off(std::vector{told_of(second.items.at(0))}, kWithin)),
              ElementsAre(Ne(std::nullopt)));
  EXPECT_THAT(must(cases().put_off(std::vector{told_of(second.items.at(0))}, kWithin)),
              ElementsAre(std::nullopt))
      << "once";
}

TEST_P(StoreContract, AnotherEscalationIsAnotherCase) {
  const Task dead = in_state(State::kDead);
  const DueCases old = must(cases().take_due(10, kHour, kWithin));
  EXPECT_EQ(must(control(dead.id, Move::kReopen)), Effect::kDone);
  EXPECT_FALSE(must(cases().find(dead.id, kWithin)));
  EXPECT_EQ(settle(claim_one(), Move::kGiveUp).verdict, WriteVerdict::kApply);

  EXPECT_THAT(must(cases().put_off(std::vector{told_of(old.items.at(0))}, kWithin)),
              ElementsAre(std::nullopt));
  const DueCases again = must(cases().take_due(10, kHour, kWithin));
  EXPECT_THAT(tasks_of(again), ElementsAre(dead.id));
  EXPECT_EQ(again.items.at(0).held.reminders, 0);
  EXPECT_GT(again.items.at(0).held.fence, old.items.at(0).held.fence);
}

TEST_P(StoreContract, WhatPeopleSettleIsNotRemindedOfAnyMore) {
  for (const Move move : {Move::kReopen, Move::kResolve, Move::kIgnore}) {
    const Task dead = in_state(State::kDead);
    EXPECT_EQ(must(control(dead.id, move)), Effect::kDone) << task::to_string(move);
  }
  EXPECT_THAT(must(cases().take_due(10, kHour, kWithin)).items, IsEmpty());
  EXPECT_THAT(all_cases(), IsEmpty());
}

// In a cluster that is being upgraded, some nodes know nothing of cases.
TEST_P(StoreContract, ACaseThatWasLeftBehindIsNeverTold) {
  const Task dead = in_state(State::kDead);
  for (const State state : {State::kPending, State::kRunning, State::kSucceeded}) {
    leave_case(in_state(state).id);
  }
  leave_case(new_id());
  EXPECT_THAT(all_cases(), SizeIs(5));

  EXPECT_THAT(tasks_of(must(cases().take_due(10, kHour, kWithin))), ElementsAre(dead.id));

  ASSERT_THAT(all_cases(), SizeIs(1)) << "they are gone, not only put off";
  EXPECT_EQ(all_cases().front().task, dead.id);
}

TEST_P(StoreContract, AnEscalationTakesThePlaceOfACaseThatWasLeftBehind) {
  const Task first = running();
  const Task second = running();
  leave_case(first.id);
  const std::vector<Outcome> batch{outcome_of(first, Move::kGiveUp, store_now()),
                                   outcome_of(second, Move::kGiveUp, store_now())};

  for (const Applied& one : must(store().apply(batch, kWithin))) {
    EXPECT_EQ(one.verdict, WriteVerdict::kApply);
  }

  const Task dead = row(first.id);
  const Case now = must(cases().find(first.id, kWithin)).value();
  EXPECT_EQ(now.fence, dead.ticket.fence);
  EXPECT_EQ(now.opened_at, dead.ended_at);
  EXPECT_EQ(now.reminders, 0);
  EXPECT_THAT(tasks_of(must(cases().take_due(10, kHour, kWithin))),
              UnorderedElementsAre(first.id, second.id));
}

TEST_P(StoreContract, WhoTakesACaseStopsItsReminders) {
  const Task dead = in_state(State::kDead);
  const Task other = in_state(State::kDead);
  const std::vector<TaskId> both{dead.id, submit()};

  const auto items = must(cases().assign(
      both, {.assignee = "alice", .due = std::nullopt, .note = "looks"}, "bob", kWithin));

  ASSERT_THAT(items, SizeIs(2));
  for (const CaseItem& item : items) {
    if (item.task == dead.id) {
      EXPECT_EQ(must(item.now).assignee, "alice");
    } else {
      EXPECT_EQ(code_of(item.now), ErrorCode::kNotFound) << "nothing to take";
    }
  }
  EXPECT_THAT(tasks_of(must(cases().take_due(10, kHour, kWithin))), ElementsAre(other.id));
  const AuditEntry entry = audit_of(dead.id).front();
  EXPECT_EQ(entry.action, "take");
  EXPECT_EQ(entry.actor, "bob");
  EXPECT_EQ(entry.detail, "alice: looks");
  EXPECT_THAT(must(cases().list("alice", std::nullopt, 10, kWithin)).cases, SizeIs(1));
  EXPECT_THAT(must(cases().list("", std::nullopt, 10, kWithin)).cases, SizeIs(1));
}

TEST_P(StoreContract, ATakenCaseIsRemindedOfWhenItIsDue) {
  const Task dead = in_state(State::kDead);
  const TimePoint due = store_now();
  const auto assign = [&](const Assignment& assignment) {
    return must(must(cases().assign({&dead.id, 1}, assignment, "bob", kWithin)).at(0).now);
  };
  EXPECT_EQ(assign({.assignee = "alice", .due = due + kHour, .note = ""}).remind_at, due + kHour);
  EXPECT_THAT(must(cases().take_due(10, kHour, kWithin)).items, IsEmpty());

  EXPECT_EQ(assign({.assignee = "carol", .due = due, .note = ""}).remind_at, due);
  const DueCases overdue = must(cases().take_due(10, kHour, kWithin));
  EXPECT_EQ(overdue.items.at(0).held.assignee, "carol");

  (void)assign({.assignee = "", .due = std::nullopt, .note = ""});
  EXPECT_THAT(must(cases().put_off(std::vector{told_of(overdue.items.at(0))}, kWithin)),
              ElementsAre(std::nullopt))
      << "it was given back meanwhile";
  EXPECT_THAT(must(cases().take_due(10, kHour, kWithin)).items, SizeIs(1));
  EXPECT_THAT(actions_on(dead.id), ElementsAre("give_up", "take", "hand_over", "give_back"));
}

TEST_P(StoreContract, ANoteIsKeptInTheAuditAndChangesNothing) {
  const Task dead = in_state(State::kDead);
  const Case before = must(cases().find(dead.id, kWithin)).value();

  EXPECT_EQ(must(cases().note(dead.id, "the bank was called", "bob", kWithin)), before);

  EXPECT_EQ(must(cases().find(dead.id, kWithin)), before);
  EXPECT_EQ(must(reader().find(dead.id, kWithin)), dead);
  const AuditEntry entry = audit_of(dead.id).front();
  EXPECT_EQ(entry.action, "note");
  EXPECT_EQ(entry.actor, "bob");
  EXPECT_EQ(entry.detail, "the bank was called");
  EXPECT_EQ(entry.fence, before.fence);
}

TEST_P(StoreContract, OnlyWhatWaitsForAPersonTakesNotes) {
  const TaskId waiting = submit();
  const Task settled = in_state(State::kDead);
  EXPECT_EQ(must(control(settled.id, Move::kResolve)), Effect::kDone);
  const Task dead = in_state(State::kDead);

  EXPECT_EQ(code_of(cases().note(waiting, "a", "bob", kWithin)), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(cases().note(settled.id, "a", "bob", kWithin)), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(cases().note(dead.id, "", "bob", kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().note(dead.id, std::string(1'001, 'a'), "bob", kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().note(dead.id, "a", "", kWithin)), ErrorCode::kInvalid);
  EXPECT_THAT(actions_on(dead.id), ElementsAre("give_up"));
}

TEST_P(StoreContract, OfManyWhoLookEachCaseIsToldByOne) {
  constexpr int kDead = 40;
  std::set<TaskId> dead;
  for (int i = 0; i < kDead; ++i) dead.insert(in_state(State::kDead).id);
  Mutex mutex;
  std::vector<TaskId> told;
  const auto tell = [&](Cases& by) {
    for (int i = 0; i < 4 * kDead; ++i) {
      const DueCases due = must(by.take_due(3, kHour, kWithin));
      if (due.items.empty()) return;
      std::vector<PutOff> batch;
      for (const DueCase& one : due.items) batch.push_back(told_of(one));
      for (const auto& end : must(by.put_off(batch, kWithin))) EXPECT_TRUE(end);
      const MutexLock lock(mutex);
      for (const DueCase& one : due.items) told.push_back(one.task.id);
    }
  };
  Cases& beside = other_cases();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { tell(i % 2 == 0 ? cases() : beside); });
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(told.size(), dead.size());
  EXPECT_EQ(std::set<TaskId>(told.begin(), told.end()), dead);
}

TEST_P(StoreContract, CasesRefuseWhatCannotBe) {
  const Task dead = in_state(State::kDead);
  const std::vector<TaskId> one{dead.id};
  EXPECT_EQ(code_of(cases().take_due(0, kHour, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().take_due(1, Duration::zero(), kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().take_due(1, 25 * kHour, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().put_off({}, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().assign({}, {.assignee = "a", .due = {}, .note = {}}, "b", kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().assign(one, {.assignee = "a\n", .due = {}, .note = {}}, "b", kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().assign(one, {.assignee = std::string(201, 'a'), .due = {}, .note = {}},
                                   "b", kWithin)),
            ErrorCode::kInvalid);
  const auto due_to_nobody =
      cases().assign(one, {.assignee = "", .due = store_now(), .note = {}}, "b", kWithin);
  EXPECT_EQ(code_of(due_to_nobody), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(cases().assign(one, {.assignee = "a", .due = {}, .note = {}}, "", kWithin)),
            ErrorCode::kInvalid);
  EXPECT_EQ(must(cases().find(dead.id, kWithin))->assignee, "");
}

TEST_P(StoreContract, PagesOfCasesHaveEachOnce) {
  std::set<TaskId> dead;
  for (int i = 0; i < 7; ++i) dead.insert(in_state(State::kDead).id);
  std::vector<TaskId> seen;
  std::vector<TaskId> tasks;
  std::optional<TaskId> after;
  do {
    const CasePage page = must(cases().list(std::nullopt, after, 3, kWithin));
    for (const Case& one : page.cases) seen.push_back(one.task);
    for (const Task& one : page.tasks) {
      tasks.push_back(one.id);
      EXPECT_EQ(one.state, State::kDead);
    }
    after = page.next;
  } while (after);
  EXPECT_EQ(seen, tasks) << "each with its task";
  EXPECT_EQ(seen, std::vector<TaskId>(dead.begin(), dead.end()));
}

TEST_P(StoreContract, WhatIsPurgedLeavesNoCase) {
  const Task dead = in_state(State::kDead);
  const PurgeRequest request{.states = {State::kDead},
                             .kind = std::nullopt,
                             .ended_before = store_now() + kHour,
                             .limit = 10,
                             .by = "alice"};
  EXPECT_EQ(must(store().purge(request, kWithin)), 1U);
  EXPECT_FALSE(must(cases().find(dead.id, kWithin)));
}

}  // namespace
}  // namespace recourse::store::contract
