// A core with a schedule, told by hand what the store answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/core.h"

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;

// The node's own clock, and the store's, which is ahead of it.
constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr Duration kAhead = 7s;

std::vector<Schedule> minutely() {
  Schedule schedule{.name = "report",
                    .when = timing::Recurrence::parse("* * * * *").value(),
                    .spec = {},
                    .deadline_in = std::nullopt};
  schedule.spec.kind = task::Kind("report");
  return {schedule};
}

class CoreWithASchedule : public ::testing::Test {
 protected:
  CoreWithASchedule() : core_(NodeSettings{}, {}, 1, now_, minutely()) {
    Commands out;
    core_.begin(now_, out);
    const CallId call = find<Join>(out)->call;
    tell(JoinEnded{.call = call, .answer = store::Joined{.now = now_ + kAhead, .pauses = {}}});
  }

  template <class T>
  static std::optional<T> find(Commands& commands) {
    for (Command& command : commands) {
      if (auto* found = std::get_if<T>(&command)) return std::move(*found);
    }
    return std::nullopt;
  }
  static int happened(const Commands& commands, NodeEvent event) {
    int count = 0;
    for (const Command& command : commands) {
      const auto* happening = std::get_if<Happening>(&command);
      const auto* node = happening == nullptr ? nullptr : std::get_if<NodeHappened>(happening);
      if (node != nullptr && node->event == event) ++count;
    }
    return count;
  }

  Commands tell(Event event) {
    Commands out;
    core_.on(std::move(event), now_, out);
    core_.settle(now_, out);
    return out;
  }
  // Heartbeats are answered, or the node would fence itself.
  Commands settle_at(TimePoint now) {
    now_ = now;
    Commands out;
    core_.settle(now_, out);
    if (const auto beat = find<Heartbeat>(out)) {
      (void)tell(HeartbeatEnded{
          .call = beat->call,
          .answer = store::Pulse{.now = now_ + kAhead, .pauses = {}, .requests = {}}});
    }
    return out;
  }
  // Goes on until something is inserted.
  Insert next_insert() {
    for (int i = 0; i < 1'000; ++i) {
      Commands out = settle_at(std::max(now_, core_.next_wakeup()));
      if (auto insert = find<Insert>(out)) return *std::move(insert);
    }
    ADD_FAILURE() << "nothing was inserted";
    return {};
  }

  TimePoint now_ = kStart;
  Core core_;
};

TEST_F(CoreWithASchedule, SubmitsByTheStoresClock) {
  const Insert insert = next_insert();

  EXPECT_EQ(now_, kStart + 1min - kAhead);
  EXPECT_EQ(insert.novelty, store::Novelty::kRepeat);
  ASSERT_EQ(insert.batch.size(), 1U);
  EXPECT_EQ(insert.batch[0].id, occurrence_id("report", kStart + 1min));
}

TEST_F(CoreWithASchedule, KeepsTheAnswerToItself) {
  Insert insert = next_insert();
  const task::TaskId other(Ulid{});
  store::InsertAnswer answer{.now = now_ + kAhead,
                             .items = {{.result = store::Insertion::kKeyTaken, .task = other}}};

  Commands out = tell(InsertEnded{
      .call = insert.call, .batch = std::move(insert.batch), .answer = std::move(answer)});

  EXPECT_FALSE(find<AnswerSubmits>(out));
  EXPECT_EQ(next_insert().batch.at(0).id, occurrence_id("report", kStart + 2min));
}

TEST_F(CoreWithASchedule, TriesAgainWhileTheStoreIsDown) {
  Insert insert = next_insert();
  const task::TaskId id = insert.batch.at(0).id;

  Commands out = tell(InsertEnded{.call = insert.call,
                                  .batch = std::move(insert.batch),
                                  .answer = fail(ErrorCode::kInDoubt, "reply lost")});

  EXPECT_FALSE(find<AnswerSubmits>(out));
  EXPECT_FALSE(find<Insert>(out));
  EXPECT_EQ(next_insert().batch.at(0).id, id);
  EXPECT_EQ(now_, kStart + 1min - kAhead + 1s);
}

TEST_F(CoreWithASchedule, TellsPeopleWhatCannotBeStored) {
  Insert insert = next_insert();

  const Commands out = tell(InsertEnded{.call = insert.call,
                                        .batch = std::move(insert.batch),
                                        .answer = fail(ErrorCode::kInvalid, "bad bytes")});

  EXPECT_EQ(happened(out, NodeEvent::kUnsubmitted), 1);
  EXPECT_EQ(next_insert().batch.at(0).id, occurrence_id("report", kStart + 2min));
}

TEST_F(CoreWithASchedule, AnswersOthersInTheSameTransaction) {
  now_ = kStart + 1min - kAhead;
  store::Submission submission;
  submission.id = task::TaskId(Ulid{.bytes = {1}});
  submission.spec.kind = task::Kind("report");
  Commands out = tell(Submit{.submit = SubmitId(5), .submission = std::move(submission)});
  Insert insert = *find<Insert>(out);
  ASSERT_EQ(insert.batch.size(), 2U);

  out = tell(InsertEnded{.call = insert.call,
                         .batch = std::move(insert.batch),
                         .answer = fail(ErrorCode::kUnavailable, "down")});

  const auto answers = find<AnswerSubmits>(out);
  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->answers.size(), 1U);
  EXPECT_EQ(answers->answers[0].submit, SubmitId(5));
}

TEST_F(CoreWithASchedule, SubmitsNothingWhileItStops) {
  (void)tell(StopRequest{.limit = 10min});

  Commands out = settle_at(kStart + 5min);

  EXPECT_FALSE(find<Insert>(out));
}

}  // namespace
}  // namespace recourse::engine
