// Marks whose COMMIT went through while its reply was lost, over a store in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "base/ulid_source.h"
#include "store/memory/data.h"
#include "store/memory/transaction.h"
#include "store/transactional_inbox.h"

namespace recourse::store {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const TimePoint kStart = TimePoint(std::chrono::hours(24 * 365 * 50));

// Commits, and runs everything again where the reply is lost.
class LossyBackend final : public Backend {
 public:
  Result<> run(Line, Repeat, Duration, FunctionRef<Result<>(Transaction&)> work) override {
    const auto once = [&] {
      memory::MemoryTransaction transaction(data, clock);
      return work(transaction);
    };
    Result<> ran = once();
    if (!ran || !loses_reply) return ran;
    loses_reply = false;
    if (meanwhile) meanwhile();
    return once();
  }

  ManualClock clock{kStart};
  memory::Data data;
  bool loses_reply = false;
  // After the commit, before it is run again.
  std::function<void()> meanwhile;
};

class LossyInbox : public ::testing::Test {
 protected:
  static Dealt done(const std::string& key) { return {.key = MessageKey(key), .keep_for = 1h}; }
  Dealt handed_on(const std::string& key) {
    Dealt dealt = done(key);
    task::TaskSpec spec;
    spec.kind = task::Kind("mail");
    dealt.task = Submission{
        .id = task::TaskId(ids_.next()), .spec = std::move(spec), .delay = {}, .claim = {}};
    return dealt;
  }
  std::vector<bool> mark(const std::vector<Dealt>& batch) {
    const std::vector<Marked> answers = inbox_.mark(batch, 1s).value();
    std::vector<bool> are_new;
    for (const Marked& marked : answers) are_new.push_back(marked.is_new);
    return are_new;
  }

  LossyBackend backend_;
  UlidSource ids_{backend_.clock, 1};
  TransactionalInbox inbox_{backend_, Retention()};
};

TEST_F(LossyInbox, WhatThisCallHasWrittenIsNewAndWhatWasThereIsNot) {
  ASSERT_THAT(mark({done("b"), handed_on("d")}), ElementsAre(true, true));
  const std::vector batch{done("a"), done("b"), handed_on("c"), handed_on("d")};
  backend_.loses_reply = true;

  EXPECT_THAT(mark(batch), ElementsAre(true, false, true, false));

  EXPECT_THAT(backend_.data.live(), SizeIs(2));
  EXPECT_THAT(mark(batch), ElementsAre(false, false, false, false));
}

// Nobody else's: it stands for another task.
TEST_F(LossyInbox, AMarkThatAnotherHasWrittenMeanwhileIsNotNew) {
  backend_.loses_reply = true;
  backend_.meanwhile = [&] {
    backend_.data.marks.at(MessageKey("a")).seen = {.task = task::TaskId(ids_.next())};
  };

  EXPECT_THAT(mark({done("a")}), ElementsAre(false));
}

// Its task was published again: the copy must find no mark, or nobody would deal with it.
TEST_F(LossyInbox, AMarkThatWasForgottenMeanwhileStaysForgotten) {
  const Dealt message = handed_on("a");
  backend_.loses_reply = true;
  backend_.meanwhile = [&] { backend_.data.marks.clear(); };

  EXPECT_THAT(mark({message}), ElementsAre(true));

  EXPECT_THAT(backend_.data.marks, IsEmpty());
  EXPECT_THAT(backend_.data.live(), SizeIs(1));
}

}  // namespace
}  // namespace recourse::store
