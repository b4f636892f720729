#include "notify/case_teller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/manual_clock.h"
#include "tests/case_fixture.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

class CaseTellerTest : public CaseFixture {
 protected:
  std::unique_ptr<CaseTeller> teller(TellerSettings settings = quick()) {
    return teller(opened_->cases(), clock_, std::move(settings));
  }
  std::unique_ptr<CaseTeller> teller(store::Cases& cases, const Clock& clock,
                                     TellerSettings settings = quick()) {
    auto made = std::make_unique<CaseTeller>(
        cases,
        [this](Notice notice, Ended ended) {
          const MutexLock lock(mutex_);
          fired_.push_back(std::move(notice));
          ended_.push_back(std::move(ended));
        },
        std::move(settings), clock, log_);
    made->start();
    return made;
  }

  static TellerSettings quick() {
    return {.book = {.reminders = {.interval = 1h}},
            .sayer = {.node = "n1", .link = "http://r/tasks/"},
            .look_every = 100ms};
  }

  std::size_t fired() {
    const MutexLock lock(mutex_);
    return fired_.size();
  }
  void end(std::size_t place, Fate fate, Duration wait = Duration::zero()) {
    Ended ended;
    {
      const MutexLock lock(mutex_);
      ended = ended_.at(place);
    }
    ended({fate, wait});
  }
  NullLog log_;
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
  // The teller writes the case first and forgets it then.
  EXPECT_TRUE(eventually([&] { return teller->out() == 0; }));
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

TEST_F(CaseTellerTest, WhatHasToWaitIsPutOffUntilThenAndNotCounted) {
  const auto teller = this->teller();
  const task::TaskId task = escalate();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  end(0, Fate::kLater, 8h);
  ASSERT_TRUE(eventually([&] { return teller->out() == 0; }));
  EXPECT_EQ(case_of(task).reminders, 0);
  EXPECT_GT(*case_of(task).remind_at, clock_.now() + 7h);
  EXPECT_LT(*case_of(task).remind_at, clock_.now() + 9h);
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

TEST_F(CaseTellerTest, WhatEndsAfterItsCloseIsWrittenDownBeforeItsStop) {
  const auto teller = this->teller();
  const task::TaskId told = escalate();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  teller->close();
  const task::TaskId later = escalate();
  teller->hint();
  end(0, Fate::kDelivered);
  teller->stop(kWithin);
  EXPECT_EQ(case_of(told).reminders, 1);
  EXPECT_GT(*case_of(told).remind_at, clock_.now() + 59min);
  EXPECT_EQ(case_of(later).remind_at, case_of(later).opened_at) << "not taken any more";
  EXPECT_EQ(fired(), 1U);
}

TEST_F(CaseTellerTest, WhatIsOutWhenItStopsIsNotHeldForLonger) {
  const auto teller = this->teller();
  const task::TaskId task = escalate();
  ASSERT_TRUE(eventually([&] { return fired() == 1; }));
  const store::Case held = case_of(task);
  teller->stop(kWithin);
  end(0, Fate::kDelivered);
  EXPECT_EQ(case_of(task), held);
}

// A store that is down, and remembers when it was asked.
class DownCases final : public store::Cases {
 public:
  explicit DownCases(const Clock& clock) : clock_(clock) {}

  [[nodiscard]] std::vector<BootTime> asked() const {
    const MutexLock lock(mutex_);
    return asked_;
  }

  Result<store::DueCases> take_due(std::size_t, Duration, Duration) override {
    const MutexLock lock(mutex_);
    asked_.push_back(clock_.since_boot());
    return fail(ErrorCode::kUnavailable, "down");
  }
  Result<std::vector<std::optional<TimePoint>>> put_off(std::span<const store::PutOff>,
                                                        Duration) override {
    return fail(ErrorCode::kUnavailable, "down");
  }
  Result<std::vector<store::CaseItem>> assign(std::span<const task::TaskId>,
                                              const store::Assignment&, std::string_view,
                                              Duration) override {
    return fail(ErrorCode::kUnavailable, "down");
  }
  Result<store::Case> note(task::TaskId, std::string_view, std::string_view, Duration) override {
    return fail(ErrorCode::kUnavailable, "down");
  }
  Result<std::optional<store::Case>> find(task::TaskId, Duration) override {
    return fail(ErrorCode::kUnavailable, "down");
  }
  Result<store::CasePage> list(const std::optional<std::string>&, std::optional<task::TaskId>,
                               std::size_t, Duration) override {
    return fail(ErrorCode::kUnavailable, "down");
  }

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  std::vector<BootTime> asked_ GUARDED_BY(mutex_);
};

TEST_F(CaseTellerTest, AStoreThatIsDownIsLeftAloneForLongerAndLonger) {
  ManualClock clock{TimePoint(1h)};
  DownCases down(clock);
  const auto teller = this->teller(down, clock);
  ASSERT_TRUE(eventually([&] {
    clock.advance(10ms);
    teller->hint();
    return down.asked().size() >= 4;
  }));
  const std::vector<BootTime> asked = down.asked();
  EXPECT_GE(asked[1] - asked[0], 1s);
  EXPECT_GE(asked[2] - asked[1], 2s);
  EXPECT_GE(asked[3] - asked[2], 4s);
}

}  // namespace
}  // namespace recourse::notify
