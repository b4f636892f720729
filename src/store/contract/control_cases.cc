// control: what people do, by ids or by a filter whose membership is frozen.
#include <algorithm>
#include <set>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<TaskId> controlled_ids(const ControlAnswer& answer) {
  std::vector<TaskId> ids;
  for (const ControlItem& item : answer.items) ids.push_back(item.task);
  return ids;
}

ByFilter dead_letters(TimePoint as_of) {
  ByFilter which;
  which.filter.states = {State::kDead};
  which.as_of = as_of;
  return which;
}

TEST_P(StoreContract, EveryControlOfTheTableIsDoneAsTheRulesSay) {
  for (const task::Edge& edge : task::kEdges) {
    if (!is_control(edge.move) || edge.from == State::kRunning) continue;
    const Task before = in_state(edge.from);

    EXPECT_EQ(must(control(before.id, edge.move)), Effect::kDone)
        << to_string(edge.from) << ' ' << to_string(edge.move);

    const Task after = row(before.id);
    const TimePoint at = after.ended_at.value_or(after.due_at);
    EXPECT_EQ(after, must(task::control(before, order_of(edge.move), at)).task);
    EXPECT_THAT(actions_on(before.id), Contains(std::string(to_string(edge.move))));
  }
}

TEST_P(StoreContract, WhatTheTableForbidsIsRefusedWithWhatIsPossible) {
  for (const State state : task::kAllStates) {
    if (state == State::kRunning) continue;
    const Task task = in_state(state);
    for (const Move move : task::kAllMoves) {
      if (!is_control(move) || task::next_state(state, move)) continue;
      const Result<Effect> refused = control(task.id, move);
      EXPECT_EQ(code_of(refused), ErrorCode::kConflict) << to_string(state) << to_string(move);
      EXPECT_THAT(refused ? "" : refused.error().message, HasSubstr("possible:"));
      EXPECT_EQ(row(task.id), task);
    }
  }
}

TEST_P(StoreContract, AnUnknownTaskIsNotFound) {
  EXPECT_EQ(code_of(control(new_id(), Move::kCancel)), ErrorCode::kNotFound);
}

TEST_P(StoreContract, ControlAnswersEachIdInTheOrderGiven) {
  const Task running_one = running();
  const TaskId waiting = submit();
  const TaskId unknown = new_id();
  const Task finished = in_state(State::kSucceeded);

  const ControlAnswer answer =
      must(store().control(std::vector{unknown, finished.id, waiting, running_one.id},
                           order_of(Move::kCancel), "alice", kWithin));

  EXPECT_EQ(controlled_ids(answer), (std::vector{unknown, finished.id, waiting, running_one.id}));
  EXPECT_EQ(code_of(answer.items.at(0).effect), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(answer.items.at(1).effect), ErrorCode::kConflict);
  EXPECT_EQ(must(answer.items.at(2).effect), Effect::kDone);
  EXPECT_EQ(must(answer.items.at(3).effect), Effect::kRequested);
  EXPECT_EQ(answer.next, std::nullopt);
}

TEST_P(StoreContract, APausedTaskIsNotClaimedUntilItIsResumed) {
  const TaskId id = submit();
  must(control(id, Move::kPause));
  EXPECT_THAT(claim(1), IsEmpty());

  must(control(id, Move::kResume));

  EXPECT_EQ(claim_one().id, id);
}

TEST_P(StoreContract, RetryNowMakesADelayedTaskDue) {
  const TaskId id = submit(spec_of(), kHour);

  must(control(id, Move::kRetryNow));

  EXPECT_EQ(claim_one().id, id);
}

TEST_P(StoreContract, AReopenedTaskStartsANewEpisode) {
  const Task task = running();
  Transition end = plan(task, Move::kGiveUp, store_now());
  end.retries = 5;
  end.attempts = 6;
  end.deaths = 2;
  end.error = task::Reason{"HTTP_503", "away"};
  apply_one(end, attempt_of(task, end, 6));

  must(control(task.id, Move::kReopen));

  const Task again = claim_one();
  EXPECT_EQ(again.id, task.id);
  EXPECT_EQ(again.retries, 0);
  EXPECT_EQ(again.deaths, 0);
  EXPECT_EQ(again.episode, 2);
  EXPECT_EQ(again.attempts, 6) << "over all episodes";
  EXPECT_EQ(again.ended_at, std::nullopt);
  EXPECT_THAT(attempts_of(task.id), SizeIs(1));
}

TEST_P(StoreContract, AReopenedTaskNeedsADeadlineThatHasNotPassed) {
  TaskSpec spec = spec_of();
  spec.deadline = store_now() - kHour;
  const Task dead = in_state(State::kDead, spec);

  EXPECT_EQ(code_of(control(dead.id, Move::kReopen)), ErrorCode::kInvalid);
  EXPECT_EQ(row(dead.id), dead);

  task::Order order = order_of(Move::kReopen);
  order.deadline = *spec.deadline + 2 * kHour;
  EXPECT_EQ(must(control(dead.id, order)), Effect::kDone);
  EXPECT_EQ(claim_one().spec.deadline, order.deadline);
}

TEST_P(StoreContract, APayloadIsEditedBesideTheMove) {
  const Task dead = in_state(State::kDead);
  task::Order order = order_of(Move::kReopen);
  order.payload = std::string("corrected\0bytes\xFF", 16);

  must(control(dead.id, order));

  EXPECT_EQ(claim_one().spec.payload, order.payload);
}

TEST_P(StoreContract, APayloadIsEditedAloneAndRaisesTheFence) {
  const Task before = row(submit(spec_of(), kHour));
  task::Order order;
  order.payload = "corrected";

  EXPECT_EQ(must(control(before.id, order)), Effect::kDone);

  Task expected = before;
  expected.spec.payload = "corrected";
  expected.ticket.fence = task::next(before.ticket.fence);
  EXPECT_EQ(row(before.id), expected);
  EXPECT_EQ(audit_of(before.id).at(0).actor, "alice");
}

TEST_P(StoreContract, ThePayloadOfAnOwnedTaskIsNotEdited) {
  const Task task = running();
  task::Order order;
  order.payload = "too late";

  EXPECT_EQ(code_of(control(task.id, order)), ErrorCode::kConflict);

  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, AnOrderThatCanNeverWorkIsInvalid) {
  const TaskId id = submit();
  const std::vector<TaskId> ids{id};
  task::Order late = order_of(Move::kPause);
  late.deadline = store_now() + kHour;
  task::Order large;
  large.payload = std::string(task::kPayloadBytesMax + 1, 'x');

  for (const task::Order& order : {task::Order{}, order_of(Move::kSucceed), late, large}) {
    EXPECT_EQ(code_of(store().control(ids, order, "alice", kWithin)), ErrorCode::kInvalid);
  }
  EXPECT_EQ(row(id).state, State::kPending);
}

TEST_P(StoreContract, AFilterCatchesWhatMatchesAndNothingElse) {
  const Task dead = in_state(State::kDead);
  in_state(State::kFailed);
  in_state(State::kDead, spec_of("sms"));
  ByFilter which = dead_letters(store_now());
  which.filter.kinds = {Kind("mail")};

  const ControlAnswer answer =
      must(store().control(which, order_of(Move::kReopen), "alice", kWithin));

  EXPECT_THAT(controlled_ids(answer), ElementsAre(dead.id));
  EXPECT_EQ(must(answer.items.at(0).effect), Effect::kDone);
  EXPECT_EQ(count_of(State::kDead, "sms"), 1);
  EXPECT_EQ(count_of(State::kFailed), 1);
}

TEST_P(StoreContract, AFilterDoesNotCatchWhatDiedLater) {
  const Task early = in_state(State::kDead);
  const Task late = running();
  const ByFilter which = dead_letters(store_now());
  Transition end = plan(late, Move::kGiveUp, which.as_of + 1us);
  apply_one(end);

  const ControlAnswer answer =
      must(store().control(which, order_of(Move::kReopen), "alice", kWithin));

  EXPECT_THAT(controlled_ids(answer), ElementsAre(early.id));
  EXPECT_EQ(row(late.id).state, State::kDead);
}

TEST_P(StoreContract, AFilterDoesNotCatchWhatWasCreatedLater) {
  const TaskId early = submit();
  ByFilter which;
  which.as_of = store_now();
  pass(which.as_of);
  submit();

  const ControlAnswer answer =
      must(store().control(which, order_of(Move::kCancel), "alice", kWithin));

  EXPECT_THAT(controlled_ids(answer), ElementsAre(early));
  EXPECT_EQ(count_of(State::kPending), 1);
}

TEST_P(StoreContract, AFilterIsWorkedOffPageByPageEachTaskOnce) {
  const std::vector<TaskId> ids = submit_many(47);
  ByFilter which;
  which.as_of = store_now();
  which.limit = 10;
  std::vector<TaskId> seen;
  int pages = 0;
  do {
    const ControlAnswer answer =
        must(store().control(which, order_of(Move::kPause), "alice", kWithin));
    EXPECT_LE(answer.items.size(), which.limit);
    for (const TaskId& id : controlled_ids(answer)) seen.push_back(id);
    which.after = answer.next;
  } while (which.after && ++pages < 100);

  std::ranges::sort(seen);
  EXPECT_EQ(seen, ids);
  EXPECT_EQ(count_of(State::kPaused), 47);
}

TEST_P(StoreContract, AFilterAsksOwnersAndDoesTheRest) {
  const Task owned = running();
  const TaskId waiting = submit();
  ByFilter which;
  which.as_of = store_now();

  const ControlAnswer answer =
      must(store().control(which, order_of(Move::kCancel), "alice", kWithin));

  EXPECT_THAT(controlled_ids(answer), UnorderedElementsAre(owned.id, waiting));
  EXPECT_EQ(row(owned.id).requested, Move::kCancel);
  EXPECT_EQ(row(waiting).state, State::kCancelled);
}

TEST_P(StoreContract, AFilterBySearchKeyCatchesItsTasks) {
  TaskSpec spec = spec_of();
  spec.search_keys = {{"order", "o-1"}};
  const TaskId match = submit(spec);
  spec.search_keys = {{"order", "o-2"}};
  submit(spec);
  ByFilter which;
  which.as_of = store_now();
  which.filter.search_key = {"order", "o-1"};

  EXPECT_THAT(
      controlled_ids(must(store().control(which, order_of(Move::kPause), "alice", kWithin))),
      ElementsAre(match));
}

TEST_P(StoreContract, AFilterThatCatchesNothingAnswersNothing) {
  const ControlAnswer answer =
      must(store().control(dead_letters(store_now()), order_of(Move::kReopen), "alice", kWithin));

  EXPECT_THAT(answer.items, IsEmpty());
  EXPECT_EQ(answer.next, std::nullopt);
}

TEST_P(StoreContract, TheAuditSaysWhoAndWhy) {
  const TaskId id = submit();
  task::Order order = order_of(Move::kCancel);
  order.reason = "the order was \xFF withdrawn";

  EXPECT_EQ(must(control(id, order, "alice")), Effect::kDone);

  const AuditEntry entry = audit_of(id).back();
  EXPECT_EQ(entry.actor, "alice");
  EXPECT_EQ(entry.detail, "the order was \xEF\xBF\xBD withdrawn");
  order.reason = std::string(task::kReasonBytesMax + 1, 'x');
  EXPECT_EQ(code_of(store().control(std::vector{submit()}, order, "alice", kWithin)),
            ErrorCode::kInvalid);
}

}  // namespace
}  // namespace recourse::store::contract
