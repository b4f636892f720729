// Many at once: each task has one owner, each key one holder, and the books are right afterwards.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "store/contract/contract.h"
#include "store/contract/parallel.h"

namespace recourse::store::contract {
namespace {

constexpr int kThreads = 16;

// Alone it waits for whoever is about to decide on its key; in a batch it is told to.
Inserted decided(Store& store, const Submission& item, Inserted first) {
  while (first.result == Insertion::kKeyBusy) {
    first = must(store.insert_alone(item, Novelty::kRepeat, kWithin)).items.at(0);
  }
  return first;
}

TEST_P(StoreContract, ACrowdOfClaimersTakesEachTaskOnce) {
  constexpr std::size_t kTasks = 20'000;
  const std::vector<TaskId> ids = submit_many(kTasks);
  std::array<Store*, 2> stores{&store(), &other_store()};
  std::array<std::vector<TaskId>, kThreads> taken;

  in_parallel(kThreads, [&](int i) {
    Store& mine = *stores.at(static_cast<std::size_t>(i % 2));
    const std::vector<Quota> quotas{{.kind = Kind("mail"), .limit = 100}};
    int empty = 0;
    // Twice empty, because what others have locked is skipped.
    while (empty < 2) {
      const ClaimRequest request = claim_request(Owner(node()), new_lease(), quotas, 100);
      const std::vector<Task> tasks = must(mine.claim(request, kWithin)).tasks;
      empty = tasks.empty() ? empty + 1 : 0;
      for (const Task& task : tasks) taken.at(static_cast<std::size_t>(i)).push_back(task.id);
    }
  });

  std::vector<TaskId> all;
  for (const auto& part : taken) all.insert(all.end(), part.begin(), part.end());
  for (const Task& task : claim(500)) all.push_back(task.id);
  std::ranges::sort(all);
  EXPECT_EQ(all.size(), kTasks);
  EXPECT_TRUE(all == ids) << "each once, none left out";
  EXPECT_EQ(count_of(State::kRunning), static_cast<std::int64_t>(kTasks));
}

TEST_P(StoreContract, ACrowdThatLivesWholeLivesLosesNothing) {
  std::array<Store*, 2> stores{&store(), &other_store()};
  constexpr int kRounds = 10;
  constexpr int kBatch = 50;

  in_parallel(kThreads, [&](int i) {
    Store& mine = *stores.at(static_cast<std::size_t>(i % 2));
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Submission> batch;
      for (int n = 0; n < kBatch; ++n) batch.push_back(pending(new_id(), spec_of()));
      (void)must(mine.insert(batch, Novelty::kFresh, kWithin));
      const Claimed claimed =
          must(mine.claim(claim_request(Owner(node()), new_lease(),
                                        {{.kind = Kind("mail"), .limit = kBatch}}, kBatch),
                          kWithin));
      std::vector<Outcome> outcomes;
      for (const Task& task : claimed.tasks) {
        outcomes.push_back(outcome_of(task, Move::kSucceed, claimed.now));
      }
      if (outcomes.empty()) continue;
      for (const Applied& applied : must(mine.apply(outcomes, kWithin))) {
        EXPECT_EQ(applied.verdict, WriteVerdict::kApply);
      }
    }
  });

  const std::int64_t all = std::int64_t{kThreads} * kRounds * kBatch;
  EXPECT_EQ(count_of(State::kSucceeded) + count_of(State::kPending), all);
  EXPECT_EQ(listed().size(), static_cast<std::size_t>(all));
}

TEST_P(StoreContract, OfManyFirstUsesOfAKeyOneWins) {
  std::array<Store*, 2> stores{&store(), &other_store()};
  constexpr int kKeys = 20;
  for (int key = 0; key < kKeys; ++key) {
    std::array<Inserted, kThreads> answers{};

    in_parallel(kThreads, [&](int i) {
      Store& mine = *stores.at(static_cast<std::size_t>(i % 2));
      const Submission item = pending(new_id(), keyed("k-" + std::to_string(key)));
      answers.at(static_cast<std::size_t>(i)) =
          must(mine.insert_alone(item, Novelty::kFresh, kWithin)).items.at(0);
    });

    EXPECT_EQ(std::ranges::count(answers, Insertion::kInserted, &Inserted::result), 1);
    for (const Inserted& answer : answers) EXPECT_EQ(answer.task, answers.front().task);
  }
  EXPECT_EQ(count_of(State::kPending), kKeys);
}

TEST_P(StoreContract, BatchesThatShareKeysInOppositeOrdersDoNotBlockEachOther) {
  std::array<Store*, 2> stores{&store(), &other_store()};
  constexpr int kKeys = 100;
  constexpr int kCrowd = 8;
  std::array<std::map<std::string, TaskId>, kCrowd> told;

  in_parallel(kCrowd, [&](int i) {
    Store& mine = *stores.at(static_cast<std::size_t>(i % 2));
    std::vector<Submission> batch;
    for (int key = 0; key < kKeys; ++key) {
      const int turned = i % 2 == 0 ? key : kKeys - 1 - key;
      batch.push_back(pending(new_id(), keyed("k-" + std::to_string(turned))));
    }
    const InsertAnswer answer = must(mine.insert(batch, Novelty::kFresh, kWithin));
    for (std::size_t n = 0; n < batch.size(); ++n) {
      told.at(static_cast<std::size_t>(i))[batch[n].spec.unique_key.value] =
          decided(mine, batch[n], answer.items[n]).task;
    }
  });

  for (const auto& each : told) EXPECT_EQ(each, told.front()) << "all are told the same holder";
  EXPECT_EQ(count_of(State::kPending), kKeys);
}

TEST_P(StoreContract, OneBatchSentByManyIsInsertedOnce) {
  std::array<Store*, 2> stores{&store(), &other_store()};
  std::vector<Submission> batch;
  for (int i = 0; i < 200; ++i) batch.push_back(pending(new_id(), spec_of()));
  std::atomic<int> inserted = 0;

  in_parallel(8, [&](int i) {
    Store& mine = *stores.at(static_cast<std::size_t>(i % 2));
    for (const Inserted& item : must(mine.insert(batch, Novelty::kRepeat, kWithin)).items) {
      EXPECT_NE(item.result, Insertion::kKeyTaken);
      if (item.result == Insertion::kInserted) ++inserted;
    }
  });

  EXPECT_EQ(inserted, 200);
  EXPECT_EQ(count_of(State::kPending), 200);
}

}  // namespace
}  // namespace recourse::store::contract
