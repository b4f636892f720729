// Two writers of one task at the same time: exactly one of them has its way, and both are told.
#include <array>
#include <atomic>

#include "store/contract/contract.h"
#include "store/contract/parallel.h"

namespace recourse::store::contract {
namespace {

TEST_P(StoreContract, ARepeatedInsertDoesNotRaceATaskBackToLife) {
  Store& beside = other_store();
  for (int round = 0; round < 50; ++round) {
    const Submission item = born();
    insert({item});
    const Task task = row(item.id);
    const Transition success = plan(task, Move::kSucceed, store_now());

    in_parallel(2, [&](int i) {
      if (i == 0) {
        EXPECT_EQ(apply_one(success).state, State::kSucceeded);
      } else {
        const auto again = must(beside.insert(std::vector{item}, Novelty::kRepeat, kWithin));
        EXPECT_EQ(again.items.at(0).result, Insertion::kRepeated);
      }
    });

    EXPECT_EQ(row(item.id).state, State::kSucceeded);
  }
  EXPECT_TRUE(claim(10).empty());
}

TEST_P(StoreContract, ACancelWinsAgainstARetryWhoeverComesFirst) {
  Store& beside = other_store();
  for (int round = 0; round < 50; ++round) {
    const Task task = running();
    const Transition retry = plan(task, Move::kRetry, store_now());

    in_parallel(2, [&](int i) {
      if (i == 0) {
        EXPECT_EQ(apply_one(retry).verdict, WriteVerdict::kApply);
      } else {
        const ControlAnswer answer =
            must(beside.control(std::vector{task.id}, order_of(Move::kCancel), "alice", kWithin));
        EXPECT_TRUE(answer.items.at(0).effect.has_value());
      }
    });

    EXPECT_EQ(row(task.id).state, State::kCancelled);
  }
}

TEST_P(StoreContract, ACancelAnsweredDoneIsNeverClaimed) {
  Store& beside = other_store();
  for (int round = 0; round < 50; ++round) {
    const TaskId id = submit();
    std::atomic<bool> done = false;
    std::atomic<bool> claimed = false;

    in_parallel(2, [&](int i) {
      if (i == 0) {
        claimed = !claim(1).empty();
      } else {
        const ControlAnswer answer =
            must(beside.control(std::vector{id}, order_of(Move::kCancel), "alice", kWithin));
        done = must(answer.items.at(0).effect) == Effect::kDone;
      }
    });

    EXPECT_FALSE(done && claimed);
    const Task after = row(id);
    EXPECT_EQ(after.state, done ? State::kCancelled : State::kRunning);
    if (!done) settle(after, Move::kRelease);
  }
  EXPECT_EQ(count_of(State::kCancelled), 50);
}

TEST_P(StoreContract, TwoAdoptersFreeEachTaskOnce) {
  Store& beside = other_store();
  const Incarnation mortal = join();
  submit_many(900);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(claim_by(Owner(mortal), 300).size(), 300U);
  kill(mortal);
  std::atomic<std::size_t> freed = 0;

  in_parallel(8, [&](int i) {
    Store& mine = i % 2 == 0 ? store() : beside;
    for (Adopted adopted{.tasks = 0, .more = true}; adopted.more;) {
      adopted = must(mine.adopt("n-" + std::to_string(i), kWithin));
      freed += adopted.tasks;
    }
  });

  EXPECT_EQ(freed + adopt_all(), 900U);
  for (const Task& task : listed()) EXPECT_EQ(task.ticket.fence, task::Fence(2));
}

TEST_P(StoreContract, ADyingNodesOutcomeAndItsAdoptionExcludeEachOther) {
  Store& beside = other_store();
  for (int round = 0; round < 30; ++round) {
    const Incarnation mortal = join();
    const Task task = running(spec_of(), mortal);
    kill(mortal);
    const Transition success = plan(task, Move::kSucceed, store_now());
    std::atomic<bool> applied = false;
    std::atomic<std::size_t> adopted = 0;

    in_parallel(2, [&](int i) {
      if (i == 0) {
        applied = apply_one(success).verdict == WriteVerdict::kApply;
      } else {
        adopted = must(beside.adopt("second", kWithin)).tasks;
      }
    });
    adopted += adopt_all();

    EXPECT_EQ(adopted, applied ? 0U : 1U);
    const Task after = row(task.id);
    EXPECT_EQ(after.state, applied ? State::kSucceeded : State::kPending);
    EXPECT_EQ(after.ticket.fence, task::Fence(2));
    if (!applied) settle(claim_one(), Move::kSucceed);
  }
}

TEST_P(StoreContract, NoHeartbeatSucceedsAfterADeclaredDeath) {
  Store& beside = other_store();
  for (int round = 0; round < 20; ++round) {
    const Incarnation mortal = join();
    std::atomic<bool> declared = false;

    in_parallel(2, [&](int i) {
      if (i == 0) {
        bool alive = true;
        // Few, because a node that beats all the time cannot be declared dead.
        for (int beats = 0; alive && beats < 30; ++beats) {
          const bool dead_before = declared;
          alive = store().heartbeat(mortal, 0, kWithin).has_value();
          EXPECT_FALSE(dead_before && alive);
        }
      } else {
        while (!must(beside.declare_dead(mortal, node_row(mortal).beat, "second", kWithin))) {
        }
        declared = true;
      }
    });

    EXPECT_TRUE(node_row(mortal).dead);
    EXPECT_EQ(code_of(store().heartbeat(mortal, 0, kWithin)), ErrorCode::kConflict);
  }
}

TEST_P(StoreContract, AnEndedLeaseIsTakenOverByOne) {
  submit_many(200);
  EXPECT_EQ(lease("w", kInstant, 200).size(), 200U);
  std::array<Store*, 2> stores{&store(), &other_store()};
  std::atomic<std::size_t> taken = 0;

  in_parallel(16, [&](int i) {
    ClaimRequest request = claim_request(Owner(WorkerName("v-" + std::to_string(i))), new_lease(),
                                         {{.kind = Kind("mail"), .limit = 20}}, 20);
    request.lease_for = kHour;
    taken += must(stores.at(static_cast<std::size_t>(i % 2))->claim(request, kWithin)).tasks.size();
  });
  taken += claim(500).size();

  EXPECT_EQ(taken, 200U);
  for (const Task& task : listed()) EXPECT_EQ(task.ticket.fence, task::Fence(2));
}

TEST_P(StoreContract, OneOutcomeSentByManyIsAppliedOnce) {
  const Task task = running();
  const Transition retry = plan(task, Move::kRetry, store_now());
  const Outcome outcome{.transition = retry, .attempt = attempt_of(task, retry, 1)};
  std::array<Store*, 2> stores{&store(), &other_store()};
  std::atomic<int> applied = 0;

  in_parallel(8, [&](int i) {
    Store& mine = *stores.at(static_cast<std::size_t>(i % 2));
    const Applied one = must(mine.apply(std::vector{outcome}, kWithin)).at(0);
    EXPECT_NE(one.verdict, WriteVerdict::kRefused);
    EXPECT_EQ(one.state, State::kPending);
    if (one.verdict == WriteVerdict::kApply) ++applied;
  });

  EXPECT_EQ(applied, 1);
  EXPECT_EQ(row(task.id).ticket.fence, task::Fence(2));
  EXPECT_EQ(attempts_of(task.id).size(), 1U);
}

TEST_P(StoreContract, ReadersSeeEachTaskOnceWhileItIsFinished) {
  const std::vector<TaskId> ids = submit_many(300);
  const std::vector<Task> tasks = claim(300);
  Store& beside = other_store();
  std::atomic<bool> over = false;

  in_parallel(2, [&](int i) {
    if (i == 0) {
      for (std::size_t n = 0; n < tasks.size(); n += 10) {
        std::vector<Outcome> batch;
        for (std::size_t k = n; k < n + 10; ++k) {
          batch.push_back(outcome_of(tasks.at(k), Move::kSucceed, tasks.at(k).created_at));
        }
        // No must(): it would leave the reader waiting for an end that does not come.
        EXPECT_TRUE(beside.apply(batch, kWithin).has_value());
      }
      over = true;
    } else {
      while (!over) {
        EXPECT_EQ(must(reader().list({}, std::nullopt, 500, kWithin)).tasks.size(), ids.size());
        EXPECT_TRUE(reader().find(ids[150], kWithin).has_value());
      }
    }
  });

  EXPECT_EQ(count_of(State::kSucceeded), 300);
}

TEST_P(StoreContract, ANodeThatJoinsWhileOthersAdoptKeepsWhatItClaims) {
  constexpr int kNodes = 60;
  Store& beside = other_store();
  std::atomic<bool> over = false;

  in_parallel(3, [&](int i) {
    if (i == 0) {
      for (int n = 0; n < kNodes; ++n) {
        const Incarnation newcomer(new_ulid());
        EXPECT_TRUE(store().join({newcomer, "newcomer", {}}, kWithin).has_value());
        EXPECT_TRUE(store().insert({{born(spec_of(), newcomer)}}, Novelty::kFresh, kWithin));
      }
      over = true;
    } else {
      while (!over) EXPECT_TRUE(beside.adopt("sweeper", kWithin).has_value());
    }
  });

  EXPECT_EQ(count_of(State::kRunning), kNodes) << "nobody died, so nobody was robbed";
}

TEST_P(StoreContract, EveryCallerOfALargeCrowdIsServed) {
  constexpr int kCallers = 150;
  std::atomic<int> inserted = 0;

  in_parallel(kCallers, [&](int) {
    const std::vector<Submission> one{pending(new_id(), spec_of())};
    const Result<InsertAnswer> answer = store().insert(one, Novelty::kFresh, kWithin);
    if (answer && answer->items.at(0).result == Insertion::kInserted) ++inserted;
  });

  EXPECT_EQ(inserted, kCallers);
  EXPECT_EQ(count_of(State::kPending), kCallers);
}

}  // namespace
}  // namespace recourse::store::contract
