// What is remembered: attempts, capped per task, and the audit.
#include <algorithm>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StoreContract, AnAttemptIsKeptAsItWasGiven) {
  const Task task = running();
  Transition retry = plan(task, Move::kRetry, store_now());
  retry.due_at = retry.at + 90s;
  retry.error = task::Reason{"HTTP_503", "away; try \xE2\x82\xAC later"};
  const Attempt attempt = attempt_of(task, retry, 1);

  apply_one(retry, attempt);

  EXPECT_THAT(attempts_of(task.id), ElementsAre(attempt));
}

TEST_P(StoreContract, AnAttemptWithoutErrorOrSuccessorIsKept) {
  const Task task = running();
  const Transition success = plan(task, Move::kSucceed, store_now());
  const Attempt attempt = attempt_of(task, success, 1);

  apply_one(success, attempt);

  EXPECT_EQ(attempt.error, std::nullopt);
  EXPECT_THAT(attempts_of(task.id), ElementsAre(attempt));
}

TEST_P(StoreContract, AttemptsComeOldestFirst) {
  Task task = running();
  for (int number = 1; number <= 5; ++number) {
    const Transition retry = plan(task, Move::kRetryHere, store_now());
    apply_one(retry, attempt_of(task, retry, number));
    task = task::apply(task, retry);
  }

  std::vector<int> numbers;
  for (const Attempt& attempt : attempts_of(task.id)) numbers.push_back(attempt.number);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4, 5));
}

TEST_P(StoreContract, AttemptsAreOfTheirTaskOnly) {
  const Task task = running();
  const Task other = running();
  const Transition retry = plan(task, Move::kRetry, store_now());
  apply_one(retry, attempt_of(task, retry, 1));

  EXPECT_THAT(attempts_of(other.id), IsEmpty());
}

TEST_P(StoreContract, OfTenThousandAttemptsTheNewestAreKept) {
  constexpr int kAttempts = 10'000;
  Task task = running();
  const TimePoint now = store_now();
  for (int number = 1; number <= kAttempts; ++number) {
    Transition retry = plan(task, Move::kRetryHere, now);
    retry.attempts = number;
    ASSERT_EQ(apply_one(retry, attempt_of(task, retry, number)).verdict, WriteVerdict::kApply);
    task = task::apply(task, retry);
  }

  const std::vector<Attempt> kept = attempts_of(task.id);
  ASSERT_THAT(kept, SizeIs(kAttemptsKept));
  EXPECT_EQ(kept.front().number, kAttempts - kAttemptsKept + 1);
  EXPECT_EQ(kept.back().number, kAttempts);
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, AttemptsOutliveTheTasksEnd) {
  Task task = running();
  const Transition retry = plan(task, Move::kRetryHere, store_now());
  apply_one(retry, attempt_of(task, retry, 1));
  settle(row(task.id), Move::kSucceed);

  EXPECT_THAT(attempts_of(task.id), SizeIs(1));
}

TEST_P(StoreContract, AnUneventfulLifeLeavesNoAudit) {
  const TaskId id = submit();
  settle(claim_one(), Move::kSucceed);

  EXPECT_THAT(audit_of(id), IsEmpty());
  EXPECT_THAT(attempts_of(id), IsEmpty());
}

TEST_P(StoreContract, EndingBadlyIsInTheAudit) {
  EXPECT_THAT(actions_on(in_state(State::kDead).id), ElementsAre("give_up"));
  EXPECT_THAT(actions_on(in_state(State::kFailed).id), ElementsAre("fail"));
}

TEST_P(StoreContract, TheAuditTellsWhoDidWhatAndWhen) {
  const TaskId id = submit();
  const TimePoint before = store_now();
  must(control(id, order_of(Move::kPause), "alice"));
  must(control(id, order_of(Move::kResume), "b\xC3\xB6rje"));

  const std::vector<AuditEntry> entries = audit_of(id);

  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].action, "resume") << "newest first";
  EXPECT_EQ(entries[0].actor, "b\xC3\xB6rje");
  EXPECT_EQ(entries[0].task, id);
  EXPECT_EQ(entries[1].action, "pause");
  EXPECT_EQ(entries[1].actor, "alice");
  EXPECT_GE(entries[1].at, before);
  EXPECT_GE(entries[0].at, entries[1].at);
}

TEST_P(StoreContract, TheAuditIsPagedWithoutGapOrRepeat) {
  const TaskId id = submit();
  for (int i = 0; i < 6; ++i) {
    must(control(id, Move::kPause));
    must(control(id, Move::kResume));
  }
  std::vector<AuditEntry> paged;
  std::optional<std::int64_t> after;
  do {
    const AuditPage page = must(reader().audit(id, after, 5, kWithin));
    EXPECT_LE(page.entries.size(), 5U);
    paged.insert(paged.end(), page.entries.begin(), page.entries.end());
    after = page.next;
  } while (after);

  EXPECT_THAT(paged, SizeIs(12));
  EXPECT_EQ(paged, audit_of(id));
}

TEST_P(StoreContract, TheWholeAuditHoldsTasksAndNodes) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  kill(mortal);
  adopt_all();
  must(control(task.id, Move::kCancel));

  std::vector<std::string> actions;
  for (const AuditEntry& entry : audit_of(std::nullopt)) actions.push_back(entry.action);

  const auto cancel = std::ranges::find(actions, "cancel");
  const auto adopt = std::ranges::find(actions, "adopt");
  const auto death = std::ranges::find(actions, "node_dead");
  EXPECT_LT(cancel, adopt);
  EXPECT_LT(adopt, death);
  EXPECT_NE(death, actions.end());
}

TEST_P(StoreContract, AKindsPauseIsInTheAuditWithoutATask) {
  (void)must(store().pause_kind(Kind("mail"), true, "alice", kWithin, "maintenance"));

  const std::vector<AuditEntry> entries = audit_of(std::nullopt);

  EXPECT_EQ(entries.at(0).actor, "alice");
  EXPECT_EQ(entries.at(0).detail, "mail: maintenance");
  EXPECT_EQ(entries.at(0).task, std::nullopt);
}

TEST_P(StoreContract, TheAuditOutlivesTheTasksEnd) {
  const TaskId id = submit();
  must(control(id, Move::kPause));
  must(control(id, Move::kCancel));

  EXPECT_THAT(actions_on(id), ElementsAre("pause", "cancel"));
}

}  // namespace
}  // namespace recourse::store::contract
