// For tests: a store in memory with tasks that wait for a person.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/ulid.h"
#include "store/memory/memory_store.h"
#include "store/opened.h"

namespace recourse {

using namespace std::chrono_literals;

inline constexpr Duration kWithin = 10s;

class CaseFixture : public testing::Test {
 protected:
  // Submitted, claimed at birth and given up: it waits for a person.
  task::TaskId escalate() {
    const task::Incarnation node(ids_.next(clock_.now()));
    EXPECT_TRUE(store().join({.incarnation = node, .name = "n", .kinds = {}}, kWithin));
    store::Submission item;
    item.id = task::TaskId(ids_.next(clock_.now()));
    item.spec.kind = task::Kind("mail");
    item.claim = {.owner = node, .lease = task::LeaseId(ids_.next(clock_.now()))};
    EXPECT_TRUE(store().insert({&item, 1}, store::Novelty::kFresh, kWithin));
    const auto row = opened_->reader().find(item.id, kWithin);
    store::Outcome outcome{.transition = task::plan(*row, task::Move::kGiveUp, clock_.now()),
                           .attempt = std::nullopt};
    outcome.transition.error = task::Reason{"EXIT_1", "it said no"};
    const auto applied = store().apply({&outcome, 1}, kWithin);
    EXPECT_EQ(applied.value().at(0).verdict, task::WriteVerdict::kApply);
    return item.id;
  }

  store::Store& store() { return opened_->store(); }
  store::Case case_of(task::TaskId task) {
    return opened_->cases().find(task, kWithin).value().value();
  }

  template <class Condition>
  static bool eventually(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

  SystemClock clock_;
  UlidSequence ids_{7};
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
};

}  // namespace recourse
