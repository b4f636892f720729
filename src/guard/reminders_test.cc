#include "guard/reminders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "guard/fake_table.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Fate = Telling::Fate;

// One row waits for a person; the test says when and how its telling ends.
class GuardReminders : public testing::Test {
 protected:
  GuardReminders() {
    table_.on_take_reminders = [this](Duration hold) {
      std::vector<ReminderClaim> taken;
      const int due = std::exchange(is_due_, false) ? due_rows_ : 0;
      for (int id = 1; id <= due; ++id)
        taken.push_back({.row = {.id = RowId(id)}, .token = TimePoint(hold)});
      return taken;
    };
  }
  std::optional<Reminders::SteadyTime> next_hold() {
    const MutexLock lock(desk_->mutex);
    return desk_->next_hold();
  }
  // What was asked of the table since the last time, without the taking.
  std::vector<std::string> wrote() {
    std::vector<std::string> calls = table_.calls();
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(seen_));
    seen_ += calls.size();
    std::erase(calls, "take_reminders");
    return calls;
  }

  bool is_due_ = true;
  int due_rows_ = 1;
  std::size_t seen_ = 0;
  FakeTable table_{{.name = "bills", .table = "bills"}};
  MemoryLog log_;
  Tally tally_;
  std::vector<Told> told_;
  std::shared_ptr<Desk> desk_ = std::make_shared<Desk>();
  Reminders reminders_{table_,
                       task::Kind("guard.bills"),
                       [this](const Reminder&, Told told) { told_.push_back(std::move(told)); },
                       tally_,
                       log_,
                       desk_};
};

// GUARD-12
TEST_F(GuardReminders, WhatNobodyHasTriedToTellIsNoFailureAndComesAgainAfterItsWait) {
  for (const auto& [wait, seconds] :
       {std::pair<Duration, const char*>(0s, "60"), {9h, "32400"}, {Duration::max(), "86400"}}) {
    is_due_ = true;
    told_.clear();
    ASSERT_EQ(reminders_.tell_due(1s).value(), 1);
    ASSERT_EQ(told_.size(), 1U) << "it is told anew";
    told_[0]({.fate = Fate::kLater, .wait = wait});

    ASSERT_TRUE(reminders_.write_ended(1s));

    EXPECT_THAT(wrote(), ElementsAre(std::string("put off by ") + seconds));
  }
  EXPECT_EQ(tally_.reminders_failed, 0U);
  EXPECT_EQ(tally_.reminded, 0U);
}

TEST_F(GuardReminders, OnlyWhatReachedPeopleOrFailedIsWrittenAsSuch) {
  for (const auto& [fate, call] :
       {std::pair(Fate::kTold, "reminded"), std::pair(Fate::kFailed, "reminded of nothing")}) {
    is_due_ = true;
    told_.clear();
    ASSERT_TRUE(reminders_.tell_due(1s));
    told_.at(0)({.fate = fate});
    ASSERT_TRUE(reminders_.write_ended(1s));
    EXPECT_THAT(wrote(), ElementsAre(call));
  }
  EXPECT_EQ(tally_.reminders_failed, 1U);
  EXPECT_EQ(tally_.reminded, 1U);
}

TEST_F(GuardReminders, WhatIsOutForLongIsHeldForLongerAndLonger) {
  EXPECT_EQ(next_hold(), std::nullopt);
  ASSERT_TRUE(reminders_.tell_due(1s));
  Reminders::SteadyTime at = next_hold().value();
  ASSERT_TRUE(reminders_.hold_longer(at - 1s, 1s));
  EXPECT_THAT(wrote(), IsEmpty());

  for (const int hold : {120, 240, 480, 600, 600}) {
    ASSERT_TRUE(reminders_.hold_longer(at, 1s));
    EXPECT_THAT(wrote(), ElementsAre("put off by " + std::to_string(hold)));
    EXPECT_EQ(next_hold(), at + std::chrono::seconds(hold) / 2);
    at = next_hold().value();
  }
  told_.at(0)({.fate = Fate::kTold});
  EXPECT_EQ(next_hold(), at) << "until it is written";
  ASSERT_TRUE(reminders_.write_ended(1s));
  EXPECT_THAT(wrote(), ElementsAre("reminded"));
  EXPECT_EQ(next_hold(), std::nullopt);
}

// GUARD-12: else another node would tell all of them once more.
TEST_F(GuardReminders, ARowThatCannotBeWrittenHoldsUpNoOther) {
  due_rows_ = 3;
  ASSERT_EQ(reminders_.tell_due(1s).value(), 3);
  for (const Told& told : told_) told({.fate = Fate::kTold});
  table_.on_reminded = [](const ReminderClaim& claim) -> Result<bool> {
    if (claim.row.id == RowId(1)) return fail(ErrorCode::kExhausted, "locked");
    return true;
  };

  const Result<> written = reminders_.write_ended(10s);

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "locked");
  EXPECT_EQ(tally_.reminded, 2U);
  EXPECT_NE(next_hold(), std::nullopt) << "the third stays ours";
  table_.on_reminded = nullptr;
  EXPECT_TRUE(reminders_.write_ended(10s));
  EXPECT_EQ(tally_.reminded, 3U);
}

TEST_F(GuardReminders, WhatEndsWhileItIsHeldForLongerIsWrittenUnderTheNewHold) {
  table_.on_put_off = [&](ReminderClaim& claim, Duration wait) {
    claim.token += wait;
    told_.at(0)({.fate = Fate::kLater});
    return true;
  };
  ASSERT_TRUE(reminders_.tell_due(1s));
  ASSERT_TRUE(reminders_.hold_longer(next_hold().value(), 1s));
  TimePoint token;
  table_.on_put_off = [&](const ReminderClaim& claim, Duration) {
    token = claim.token;
    return true;
  };

  ASSERT_TRUE(reminders_.write_ended(1s));

  EXPECT_EQ(token, TimePoint(60s + 120s));
}

TEST_F(GuardReminders, WhatIsNotOursAnyMoreIsForgotten) {
  table_.on_put_off = [](const ReminderClaim&, Duration) { return false; };
  ASSERT_TRUE(reminders_.tell_due(1s));

  ASSERT_TRUE(reminders_.hold_longer(next_hold().value(), 1s));

  EXPECT_EQ(next_hold(), std::nullopt);
  told_.at(0)({.fate = Fate::kTold});
  (void)wrote();
  ASSERT_TRUE(reminders_.write_ended(1s));
  EXPECT_THAT(wrote(), IsEmpty());
}

}  // namespace
}  // namespace recourse::guard
