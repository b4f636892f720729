#include "notify/case_teller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/clock.h"
#include "store/memory/memory_store.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

constexpr Duration kWithin = 10s;

class CaseTellerTest : public testing::Test {
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

  std::unique_ptr<CaseTeller> teller(TellerSettings settings = quick()) {
    return std::make_unique<CaseTeller>(
        opened_->cases(),
        [this](Notice notice, Ended ended) {
          const MutexLock lock(mutex_);
          fired_.push_back(std::move(notice));
          ended_.push_back(std::move(ended));
        },
        std::move(settings), clock_, log_);
  }

  static TellerSettings quick() {
    return {.book = {.reminders = {.interval = 1h}},
            .sayer = {.node = "n1", .link = "http://r/tasks/"},
            .look_every = 100ms};
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
  std::size_t fired() {
    const MutexLock lock(mutex_);
    return fired_.size();
  }
  void end(std::size_t place, Fate fate) {
    Ended ended;
    {
      const MutexLock lock(mutex_);
      ended = ended_.at(place);
    }
    ended(fate);
  }
  store::Case case_of(task::TaskId task) {
    return opened_->cases().find(task, kWithin).value().value();
  }

  SystemClock clock_;
  NullLog log_;
  UlidSequence ids_{7};
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
  Mutex mutex_;
  std::vector<Notice> fired_ GUARDED_BY(mutex_);
  std::vector<Ended> ended_ GUARDED_BY(mutex_);
};

TEST_F(CaseTellerTest, TellsWhatWaitsAndRecordsIt) {
  const auto teller = this->teller();
  const task::TaskId task = escalate();
  teller->hint();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  {
    const MutexLock lock(mutex_);
    const Notice& notice = fired_.front();
    EXPECT_EQ(notice.event, Event::kDeadLetter);
    EXPECT_EQ(notice.task, task);
    EXPECT_EQ(notice.reason, "EXIT_1");
    EXPECT_EQ(notice.last_error, "it said no");
    EXPECT_EQ(notice.node, "n1");
    EXPECT_EQ(notice.link, "http://r/tasks/" + task::to_string(task));
    EXPECT_EQ(notice.id, task::to_string(task) + "-2-0");
  }
  EXPECT_EQ(case_of(task).reminders, 0) << "nobody was told yet";

  end(0, Fate::kDelivered);

  ASSERT_TRUE(eventually([&] { return case_of(task).reminders == 1; }));
  EXPECT_GT(*case_of(task).remind_at, clock_.now() + 59min);
  EXPECT_EQ(teller->out(), 0U);
}

TEST_F(CaseTellerTest, WhatCouldNotBeToldStaysDue) {
  const auto teller = this->teller();
  const task::TaskId task = escalate();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  end(0, Fate::kFailed);
  ASSERT_TRUE(eventually([&] { return teller->out() == 0; }));
  EXPECT_EQ(case_of(task).reminders, 0);
  EXPECT_LT(*case_of(task).remind_at, clock_.now() + 3min);
}

TEST_F(CaseTellerTest, WhatNobodyWantsIsNotAskedForEver) {
  const auto teller = this->teller();
  const task::TaskId task = escalate();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  end(0, Fate::kUnwanted);
  EXPECT_TRUE(eventually([&] { return case_of(task).reminders == 1; }));
}

TEST_F(CaseTellerTest, WhatADeadTellerHeldIsToldByTheNext) {
  TellerSettings brief = quick();
  brief.book.hold = 1s;
  auto first = teller(brief);
  const task::TaskId task = escalate();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  first.reset();
  const auto second = teller(brief);
  ASSERT_TRUE(eventually([&] { return fired() == 2; }));
  {
    const MutexLock lock(mutex_);
    EXPECT_EQ(fired_[0].id, fired_[1].id) << "receivers recognise it";
  }
  end(0, Fate::kDelivered);
  end(1, Fate::kDelivered);
  EXPECT_TRUE(eventually([&] { return case_of(task).reminders == 1; }));
}

}  // namespace
}  // namespace recourse::notify
