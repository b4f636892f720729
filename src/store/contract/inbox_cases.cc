// Marks of messages: one winner for each key, and its task with it.
#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/contract/contract.h"
#include "store/contract/parallel.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

MessageKey key(std::string text) { return MessageKey(std::move(text)); }

// Ascending with the number, as a broker's positions are.
MessageKey numbered(int number) { return key("topic/" + std::to_string(100'000 + number)); }

Dealt done(MessageKey message, Duration keep_for = kHour) {
  return {.key = std::move(message), .keep_for = keep_for};
}

Dealt handed_on(MessageKey message, Submission task) {
  return {.key = std::move(message), .keep_for = kHour, .task = std::move(task)};
}

// The row as it is born.
Task newborn(const Submission& item) {
  Task task;
  task.id = item.id;
  task.spec = item.spec;
  return task::apply(std::move(task), task::Claim{.owner = item.claim->owner,
                                                  .lease = item.claim->lease,
                                                  .lease_end = std::nullopt});
}

// A first attempt that failed.
Dealt tried(MessageKey message, const Submission& item, Move move, TimePoint now) {
  const Task task = newborn(item);
  Outcome outcome = outcome_of(task, move, now);
  Transition& change = outcome.transition;
  change.attempts = 1;
  change.first_started_at = now;
  change.error = task::Reason{"HTTP_503", "the downstream is away"};
  change.due_at = now + kHour;
  outcome.attempt = attempt_of(task, change, 1);
  outcome.notes = {{.task = task.id,
                    .fence = task.ticket.fence,
                    .number = 1,
                    .attempt = 1,
                    .at = now,
                    .progress = std::nullopt,
                    .text = "asked once"}};
  Dealt dealt = handed_on(std::move(message), item);
  dealt.tried = std::move(outcome);
  return dealt;
}

std::vector<bool> are_new(const std::vector<Marked>& marked) {
  std::vector<bool> fresh;
  for (const Marked& one : marked) fresh.push_back(one.is_new);
  return fresh;
}

TEST_P(StoreContract, AMessageThatIsDoneIsKnownFromThenOn) {
  const std::vector keys{key("a"), key("b")};
  EXPECT_THAT(must(inbox().look_up(keys, kWithin)), ElementsAre(std::nullopt, std::nullopt));

  EXPECT_THAT(are_new(must(inbox().mark(std::vector{done(key("a"))}, kWithin))), ElementsAre(true));

  EXPECT_THAT(must(other_inbox().look_up(keys, kWithin)), ElementsAre(Seen(), std::nullopt));
  const std::vector again{done(key("b")), done(key("a"))};
  EXPECT_THAT(are_new(must(other_inbox().mark(again, kWithin))), ElementsAre(true, false));
}

TEST_P(StoreContract, MessagesAreAnsweredInTheOrderGiven) {
  const Submission task = pending(new_id(), spec_of());
  const std::vector batch{done(key("m")), handed_on(key("z"), task), done(key("a"))};
  const std::vector<Marked> marked = must(inbox().mark(batch, kWithin));
  EXPECT_THAT(are_new(marked), ElementsAre(true, true, true));
  EXPECT_EQ(marked.at(1).seen.task, task.id);
  EXPECT_EQ(marked.at(0).seen, Seen());

  const std::vector keys{key("z"), key("q"), key("a"), key("z")};
  const Seen with_task{.task = task.id};
  EXPECT_THAT(must(inbox().look_up(keys, kWithin)),
              ElementsAre(with_task, std::nullopt, Seen(), with_task));
  const std::vector mixed{done(key("y")), done(key("z")), done(key("b")), done(key("m"))};
  const std::vector<Marked> again = must(inbox().mark(mixed, kWithin));
  EXPECT_THAT(are_new(again), ElementsAre(true, false, true, false));
  EXPECT_EQ(again.at(1).seen, with_task);
}

TEST_P(StoreContract, MessageKeysAreBytes) {
  using namespace std::string_literals;
  const std::vector<MessageKey> keys{key("k"),
                                     key("K"),
                                     key("k "),
                                     key("\0"s),
                                     key("\0\0"s),
                                     key("\xFF\x80"),
                                     key(std::string(kMessageKeyBytesMax, 'k'))};
  for (const MessageKey& one : keys) {
    EXPECT_TRUE(must(inbox().mark(std::vector{done(one)}, kWithin)).at(0).is_new);
  }
  for (const auto& seen : must(inbox().look_up(keys, kWithin))) EXPECT_TRUE(seen);
  EXPECT_EQ(must(inbox().forget(keys, kWithin)), keys.size());
}

TEST_P(StoreContract, AKnownMessageWritesNothing) {
  const Submission first = pending(new_id(), spec_of());
  const Submission second = pending(new_id(), spec_of());
  must(inbox().mark(std::vector{handed_on(key("a"), first)}, kWithin));

  const std::vector again{tried(key("a"), born(), Move::kRetry, store_now()),
                          handed_on(key("b"), second)};
  const std::vector<Marked> marked = must(inbox().mark(again, kWithin));

  EXPECT_THAT(are_new(marked), ElementsAre(false, true));
  EXPECT_EQ(marked.at(0).seen.task, first.id);
  EXPECT_THAT(ids_of(listed()), testing::UnorderedElementsAre(first.id, second.id));
  EXPECT_EQ(count_of(State::kPending), 2);
  EXPECT_EQ(row(first.id).state, State::kPending);
}

TEST_P(StoreContract, AMessageThatFailedAtFirstIsATaskThatWaits) {
  const Submission item = born();
  const Dealt dealt = tried(key("a"), item, Move::kRetry, store_now());

  const Marked marked = must(inbox().mark(std::vector{dealt}, kWithin)).at(0);

  EXPECT_TRUE(marked.is_new);
  EXPECT_EQ(marked.seen.task, item.id);
  const Task task = row(item.id);
  EXPECT_EQ(task.state, State::kPending);
  EXPECT_EQ(task.due_at, dealt.tried->transition.due_at);
  EXPECT_EQ(task.attempts, 1);
  EXPECT_EQ(task.last_error, dealt.tried->transition.error);
  EXPECT_EQ(task.ticket.fence, task::next(dealt.tried->transition.ticket.fence));
  EXPECT_EQ(attempts_of(item.id), std::vector{*dealt.tried->attempt});
  EXPECT_EQ(must(reader().notes(item.id, kWithin)), dealt.tried->notes);
  EXPECT_EQ(count_of(State::kPending), 1);
  EXPECT_EQ(count_of(State::kRunning), 0);
  EXPECT_THAT(claim(1), IsEmpty()) << "it is due in an hour";
}

TEST_P(StoreContract, AMessageThatDiedAtFirstIsBeforeAPerson) {
  const TimePoint now = store_now();
  const Submission dead = born();
  const Submission failed = born();
  const Submission resolved = born();
  const std::vector batch{tried(key("c"), dead, Move::kGiveUp, now),
                          tried(key("a"), failed, Move::kFail, now),
                          tried(key("b"), resolved, Move::kResolve, now)};

  EXPECT_THAT(are_new(must(inbox().mark(batch, kWithin))), ElementsAre(true, true, true));

  EXPECT_EQ(row(dead.id).state, State::kDead);
  EXPECT_EQ(row(failed.id).state, State::kFailed);
  EXPECT_EQ(row(resolved.id).state, State::kResolved);
  std::vector<TaskId> open;
  for (const Case& one : all_cases()) open.push_back(one.task);
  EXPECT_THAT(open, testing::UnorderedElementsAre(dead.id, failed.id));
  EXPECT_THAT(actions_on(dead.id), SizeIs(1));
  EXPECT_THAT(attempts_of(dead.id), SizeIs(1));
}

TEST_P(StoreContract, AMessagesTaskIsRunLikeAnyOther) {
  const Submission waiting = pending(new_id(), spec_of());
  const Submission mine = born();
  must(inbox().mark(std::vector{handed_on(key("a"), waiting), handed_on(key("b"), mine)}, kWithin));

  EXPECT_EQ(row(mine.id).owner, Owner(node()));
  EXPECT_EQ(settle(row(mine.id), Move::kSucceed).verdict, WriteVerdict::kApply);
  const Task claimed = claim_one();
  EXPECT_EQ(claimed.id, waiting.id);
  settle(claimed, Move::kSucceed);
  EXPECT_EQ(must(inbox().look_up(std::vector{key("a")}, kWithin)).at(0)->task, waiting.id)
      << "it is known whatever becomes of its task";
}

TEST_P(StoreContract, OfManyWhoMarkAMessageOneDoes) {
  constexpr int kKeys = 40;
  constexpr int kMarkers = 6;
  constexpr int kTurns = 3;
  Inbox& beside = other_inbox();
  std::atomic<int> winners = 0;
  in_parallel(kMarkers, [&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      std::vector<Dealt> batch;
      for (int i = 0; i < kKeys; ++i) {
        batch.push_back(
            handed_on(numbered((turn * kKeys) + i), pending(new_id(), spec_of(), kHour)));
      }
      if (thread % 3 == 0) std::ranges::reverse(batch);
      for (const Marked& one : must((thread % 2 == 0 ? inbox() : beside).mark(batch, kWithin))) {
        winners += one.is_new ? 1 : 0;
        EXPECT_TRUE(one.seen.task);
      }
    }
  });

  EXPECT_EQ(winners, kKeys * kTurns);
  std::set<TaskId> tasks;
  std::vector<MessageKey> keys;
  for (int i = 0; i < kKeys * kTurns; ++i) keys.push_back(numbered(i));
  for (const auto& seen : must(inbox().look_up(keys, kWithin))) tasks.insert(seen->task.value());
  const std::vector<TaskId> there = ids_of(listed());
  EXPECT_EQ(tasks, std::set<TaskId>(there.begin(), there.end()));
  EXPECT_THAT(there, SizeIs(kKeys * kTurns));
}

TEST_P(StoreContract, AFullBatchOfMessagesIsMarkedAndLookedUp) {
  std::vector<Dealt> batch;
  std::vector<MessageKey> keys;
  for (int i = 0; i < static_cast<int>(kBatchRowsMax); ++i) {
    keys.push_back(numbered(i));
    batch.push_back(i % 3 == 0 ? handed_on(numbered(i), pending(new_id(), spec_of()))
                               : done(numbered(i)));
  }
  for (const Marked& one : must(inbox().mark(batch, kWithin))) EXPECT_TRUE(one.is_new);
  for (const Marked& one : must(inbox().mark(batch, kWithin))) EXPECT_FALSE(one.is_new);
  const auto seen = must(inbox().look_up(keys, kWithin));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_TRUE(seen[i]);
    EXPECT_EQ(seen[i]->task.has_value(), i % 3 == 0);
  }
  EXPECT_EQ(must(inbox().forget(keys, kWithin)), kBatchRowsMax);
}

TEST_P(StoreContract, AForgottenMessageIsNewAgain) {
  must(inbox().mark(std::vector{done(key("a")), done(key("b"))}, kWithin));

  EXPECT_EQ(must(other_inbox().forget(std::vector{key("c"), key("a"), key("a")}, kWithin)), 1U);

  EXPECT_THAT(must(inbox().look_up(std::vector{key("a"), key("b")}, kWithin)),
              ElementsAre(std::nullopt, Seen()));
  EXPECT_TRUE(must(inbox().mark(std::vector{done(key("a"))}, kWithin)).at(0).is_new);
}

TEST_P(StoreContract, OnlyMarksWhoseTimeIsOverAreSwept) {
  must(inbox().mark(std::vector{done(key("a"), kInstant), done(key("b")), done(key("c"), kInstant),
                                done(key("d"), kInstant)},
                    kWithin));
  pass(store_now());
  const std::vector keys{key("a"), key("b"), key("c"), key("d")};
  for (const auto& seen : must(inbox().look_up(keys, kWithin))) {
    EXPECT_TRUE(seen) << "a mark counts until it is swept";
  }
  EXPECT_FALSE(must(inbox().mark(std::vector{done(key("a"))}, kWithin)).at(0).is_new);

  EXPECT_EQ(must(inbox().sweep(2, kWithin)), 2U);
  EXPECT_EQ(must(other_inbox().sweep(2, kWithin)), 1U);
  EXPECT_EQ(must(inbox().sweep(2, kWithin)), 0U);

  EXPECT_THAT(must(inbox().look_up(keys, kWithin)),
              ElementsAre(std::nullopt, Seen(), std::nullopt, std::nullopt));
}

TEST_P(StoreContract, AMessageThatCannotBeMarkedIsRefusedAndNothingIsWritten) {
  const auto refused = [&](const std::vector<Dealt>& batch) {
    return code_of(inbox().mark(batch, kWithin)) == ErrorCode::kInvalid;
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({done(key(""))}));
  EXPECT_TRUE(refused({done(key(std::string(kMessageKeyBytesMax + 1, 'k')))}));
  EXPECT_TRUE(refused({done(key("a")), done(key("b")), done(key("a"))}));
  EXPECT_TRUE(refused({done(key("a"), Duration::zero())}));
  EXPECT_TRUE(refused({done(key("a"), kLongestWait + 1us)}));
  EXPECT_TRUE(refused(std::vector<Dealt>(kBatchRowsMax + 1, done(key("a")))));
  EXPECT_TRUE(refused({handed_on(key("a"), pending(new_id(), keyed("mine")))}));
  const Submission twice = pending(new_id(), spec_of());
  EXPECT_TRUE(refused({handed_on(key("a"), twice), handed_on(key("b"), twice)}));
  TaskSpec large = spec_of();
  large.payload = std::string(200'000, 'x');
  std::vector<Dealt> heavy;
  for (int i = 0; i < 25; ++i) heavy.push_back(handed_on(numbered(i), pending(new_id(), large)));
  EXPECT_TRUE(refused(heavy));
  EXPECT_EQ(code_of(inbox().look_up({}, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(inbox().forget(std::vector{key("")}, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(inbox().sweep(0, kWithin)), ErrorCode::kInvalid);

  EXPECT_THAT(must(inbox().look_up(std::vector{key("a"), key("b")}, kWithin)),
              ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(listed(), IsEmpty());
}

TEST_P(StoreContract, AFirstAttemptThatIsNotOfItsTaskIsRefused) {
  const TimePoint now = store_now();
  const auto refused = [&](auto change) {
    Dealt dealt = tried(key("a"), born(), Move::kRetry, now);
    change(dealt);
    return code_of(inbox().mark(std::vector{dealt}, kWithin)) == ErrorCode::kInvalid;
  };
  EXPECT_FALSE(refused([](Dealt& dealt) { dealt.key = key("good"); }));
  EXPECT_TRUE(refused([](Dealt& dealt) { dealt.task = std::nullopt; }));
  EXPECT_TRUE(refused([](Dealt& dealt) { dealt.task->claim = std::nullopt; }));
  EXPECT_TRUE(refused([&](Dealt& dealt) { dealt.task->claim->lease = new_lease(); }));
  EXPECT_TRUE(refused([&](Dealt& dealt) { dealt.task->id = new_id(); }));
  EXPECT_TRUE(refused([](Dealt& dealt) { dealt.task->spec.kind = Kind("other"); }));
  EXPECT_TRUE(refused([](Dealt& dealt) { dealt.tried->transition.from = State::kPending; }));
  EXPECT_TRUE(refused([](Dealt& dealt) { dealt.tried->transition.to = State::kDead; }));
  EXPECT_TRUE(refused([](Dealt& dealt) { dealt.tried->attempt->fence = task::Fence(7); }));
  EXPECT_THAT(must(inbox().look_up(std::vector{key("a")}, kWithin)), ElementsAre(std::nullopt));
}

// False: this store has no guests.
bool has_guests(const Result<>& transacted) { return code_of(transacted) != ErrorCode::kInvalid; }

TEST_P(StoreContract, AGuestsMarkIsThereIfItsTransactionCommits) {
  const TimePoint end = store_now() + kHour;
  const auto transact = [&](FunctionRef<Result<>(Guest&)> work) {
    return creates().transact(kWithin, work);
  };
  const Result<> kept =
      transact([&](Guest& guest) { return mark_within(guest, key("kept"), end); });
  if (!has_guests(kept)) return;
  EXPECT_TRUE(kept);
  const Result<> dropped = transact([&](Guest& guest) -> Result<> {
    EXPECT_TRUE(mark_within(guest, key("dropped"), end));
    return fail(ErrorCode::kNotFound, "the work did not find what it wanted");
  });
  EXPECT_EQ(code_of(dropped), ErrorCode::kNotFound);
  const Result<> second = transact([&](Guest& guest) -> Result<> {
    EXPECT_TRUE(mark_within(guest, key("before"), end));
    return mark_within(guest, key("kept"), end);
  });
  EXPECT_EQ(code_of(second), ErrorCode::kConflict);
  EXPECT_EQ(code_of(transact([&](Guest& guest) { return mark_within(guest, key(""), end); })),
            ErrorCode::kInvalid);

  const std::vector keys{key("kept"), key("dropped"), key("before")};
  EXPECT_THAT(must(inbox().look_up(keys, kWithin)),
              ElementsAre(Seen(), std::nullopt, std::nullopt));
  EXPECT_FALSE(must(inbox().mark(std::vector{done(key("kept"))}, kWithin)).at(0).is_new);
}

TEST_P(StoreContract, WhoMarksWhatAGuestIsAboutToMarkWaitsForIt) {
  const TimePoint end = store_now() + kHour;
  Inbox& beside = other_inbox();
  for (const bool commits : {true, false}) {
    const MessageKey message = key(commits ? "a" : "b");
    std::future<std::vector<Marked>> waiting;
    const Result<> transacted = creates().transact(kWithin, [&](Guest& guest) -> Result<> {
      if (Result<> marked = mark_within(guest, message, end); !marked) return marked;
      waiting = std::async(std::launch::async, [&] {
        return must(beside.mark(
            std::vector{handed_on(message, pending(new_id(), spec_of())), done(key("z"))},
            kWithin));
      });
      EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
      return commits ? Result<>() : fail(ErrorCode::kNotFound, "the work failed");
    });
    if (!has_guests(transacted)) return;
    EXPECT_EQ(waiting.get().at(0).is_new, !commits);
  }
  EXPECT_THAT(listed(), SizeIs(1));
}

}  // namespace
}  // namespace recourse::store::contract
