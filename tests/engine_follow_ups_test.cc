// What a handler's answer brings with it, and who is told of the end, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "recourse/engine.h"
#include "recourse/json.h"
#include "recourse/testing.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

using recourse::testing::TestEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

struct Mail {
  std::string to;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mail, to)

// Safe to use from any thread.
class Seen {
 public:
  void add(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    all_.push_back(what);
  }
  std::vector<std::string> all() {
    const std::scoped_lock lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

std::int64_t count_of(Engine& engine, const std::string& kind, const std::string& state) {
  return engine.counts().value()[{kind, state}];
}

TEST_P(EngineOnStore, FollowUpsExistWhenTheParentHasSucceeded) {
  Seen mails;
  engine_.handle_bytes("work", [&](const Attempt&) {
    return done()
        .then({.kind = "mail", .payload = "raw", .options = {.delay = 1h}})
        .then("mail", Mail{"m-1"})
        .then("mail", Mail{"m-2"}, {.tenant = "acme"});
  });
  engine_.handle<Mail>("mail", [&](const Attempt&, const Mail& mail) {
    mails.add(mail.to);
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  ASSERT_TRUE(reaches(id, "succeeded"));
  // In one look: they run meanwhile.
  auto counts = engine_.counts().value();
  EXPECT_EQ(
      (counts[{"mail", "pending"}] + counts[{"mail", "running"}] + counts[{"mail", "succeeded"}]),
      3);
  EXPECT_TRUE(eventually([&] { return mails.all().size() == 2; }));
  EXPECT_THAT(mails.all(), UnorderedElementsAre("m-1", "m-2"));
}

TEST_P(EngineOnStore, WhatFollowsFromATaskThatWasReopenedIsItsNewEpisodes) {
  engine_.handle_bytes(
      "work",
      // A dead letter with a follow-up that a person lets run again.
      [&](const Attempt& attempt) {
        const std::string payload = "of attempt " + std::to_string(attempt.number());
        Outcome answer = attempt.number() == 1 ? dead_letter("at first") : done();
        answer.then({.kind = "later", .payload = payload, .options = {.delay = 1h}});
        return answer;
      },
      quick());
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();
  ASSERT_TRUE(reaches(id, "dead"));
  EXPECT_EQ(count_of(engine_, "later", "pending"), 1);

  ASSERT_TRUE(engine_.retry_now(id, "alice"));

  ASSERT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(count_of(engine_, "later", "pending"), 2);
}

// The node may have died between the follow-ups and the task's own end.
TEST_P(EngineOnStore, AProbeThatFindsItDoneBringsTheFollowUpsToo) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes(
      "work",
      [&](const Attempt& attempt) -> Outcome {
        ++calls;
        while (!attempt.stop_requested()) std::this_thread::sleep_for(1ms);
        return done();
      },
      quick(),
      [](const Attempt&) { return done().then({.kind = "later", .options = {.delay = 1h}}); });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.timeout = 50ms});

  ASSERT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(count_of(engine_, "later", "pending"), 1);
}

TEST_P(EngineOnStore, AChainOfTasksRunsToItsEnd) {
  Seen steps;
  engine_.handle_bytes("step", [&](const Attempt& attempt) {
    steps.add(attempt.payload());
    const int n = std::stoi(attempt.payload());
    return n == 0 ? done() : done().then({.kind = "step", .payload = std::to_string(n - 1)});
  });
  ASSERT_TRUE(engine_.start());

  ASSERT_TRUE(engine_.submit_bytes("step", "5"));

  EXPECT_TRUE(eventually([&] { return count_of(engine_, "step", "succeeded") == 6; }));
  EXPECT_THAT(steps.all(), ElementsAre("5", "4", "3", "2", "1", "0"));
}

TEST_P(EngineOnStore, AnAsynchronousAnswerMayHaveFollowUpsToo) {
  Seen mails;
  std::vector<std::jthread> threads;
  engine_.handle_async("work", [&](Completion completion) {
    threads.emplace_back([completion = std::move(completion)] {
      completion.complete(done().then({.kind = "mail", .payload = "x"}));
    });
  });
  engine_.handle_bytes(
      "mail", [&](const Attempt& attempt) { return mails.add(attempt.payload()), done(); });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  EXPECT_TRUE(reaches(id, "succeeded"));
  EXPECT_TRUE(eventually([&] { return mails.all().size() == 1; }));
  (void)engine_.stop();
}

TEST_P(EngineOnStore, AFollowUpThatCannotBeIsTold) {
  engine_.handle_bytes("work", [&](const Attempt& attempt) -> Outcome {
    const Submission good{.kind = "later", .payload = "", .options = {.delay = 1h}};
    const std::string& what = attempt.payload();
    if (what == "no kind") return done().then(good).then({.kind = "", .payload = ""});
    if (what == "own id") {
      return done().then({.kind = "later", .payload = "", .options = {.id = attempt.id()}});
    }
    // Found by the store, when some may be there already.
    if (what == "negative delay") {
      return done().then({.kind = "later", .payload = "", .options = {.delay = -1s}});
    }
    if (what == "parent's key") {
      return done().then({.kind = "work", .payload = "", .options = {.unique_key = "singleton"}});
    }
    if (what == "retry") return retry("not yet").then(good);
    Outcome many = done();
    for (int i = 0; i < 101; ++i) many.then(good);
    return many;
  });
  ASSERT_TRUE(engine_.start());

  for (const char* what :
       {"no kind", "own id", "negative delay", "parent's key", "retry", "too many"}) {
    const std::string id = engine_.submit_bytes("work", what, {.unique_key = "singleton"}).value();
    EXPECT_TRUE(reaches(id, "dead")) << what;
    EXPECT_EQ(engine_.find(id).value().error_code, "FOLLOW_UP_INVALID") << what;
    EXPECT_EQ(engine_.find(id).value().attempts, 1) << what;
    ASSERT_TRUE(engine_.ignore(id, "alice"));
  }

  EXPECT_EQ(count_of(engine_, "later", "pending"), 0);
}

TEST_P(EngineOnStore, AHundredFollowUpsAreMade) {
  engine_.handle_bytes("work", [&](const Attempt&) {
    Outcome answer = done();
    for (int i = 0; i < 100; ++i) {
      answer.then({.kind = "later", .payload = std::to_string(i), .options = {.delay = 1h}});
    }
    return answer;
  });
  ASSERT_TRUE(engine_.start());

  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(submit());

  for (const std::string& id : ids) EXPECT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(count_of(engine_, "later", "pending"), 500);
}

TEST_P(EngineOnStore, AStopWaitsForTheFollowUpsOfWhatRuns) {
  std::atomic<bool> runs = false;
  engine_.handle_bytes("work", [&](const Attempt&) {
    runs = true;
    std::this_thread::sleep_for(100ms);
    return done().then({.kind = "later", .payload = ""});
  });
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();
  ASSERT_TRUE(eventually([&] { return runs.load(); }));

  EXPECT_EQ(engine_.stop().finished, 1);

  EXPECT_EQ(engine_.find(id).value().state, "succeeded");
  EXPECT_EQ(count_of(engine_, "later", "pending"), 1);
}

TEST_P(EngineOnStore, TheProgramIsToldOfEveryEndAndCannotDisturbIt) {
  Seen ends;
  engine_.on_end([&](const Ended& ended) {
    ends.add(ended.state + " " + ended.error_code);
    if (ended.state == "succeeded") throw std::runtime_error("a bug of the program");
    if (ended.state == "failed") throw 7;
  });
  engine_.handle_bytes(
      "work",
      [&](const Attempt& attempt) -> Outcome {
        if (attempt.payload() == "fail") return failed("no", "NO_MONEY");
        if (attempt.payload() == "die") return dead_letter("no");
        return attempt.number() >= 2;
      },
      quick());
  ASSERT_TRUE(engine_.start());

  for (const char* payload : {"fine", "fail", "die"}) {
    ASSERT_TRUE(engine_.submit_bytes("work", payload));
  }

  EXPECT_TRUE(eventually([&] { return ends.all().size() == 3; }));
  EXPECT_THAT(ends.all(),
              UnorderedElementsAre("succeeded ", "failed NO_MONEY", "dead DEAD_LETTER"));
}

TEST_P(EngineOnStore, AProgramThatHangsWhenToldHoldsUpNobody) {
  std::atomic<bool> let_go = false;
  std::atomic<int> told = 0;
  engine_.on_end([&](const Ended&) {
    while (!let_go) std::this_thread::sleep_for(1ms);
    ++told;
  });
  engine_.handle_bytes("work", [&](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());

  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(submit());
  for (const std::string& id : ids) EXPECT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(told, 0);
  let_go = true;

  (void)engine_.stop();
  EXPECT_EQ(told, 20);
}

TEST(TestEngine, FollowUpsRunAndTheirEndsAreTold) {
  TestEngine engine;
  std::vector<std::string> ends;
  engine.on_end([&](const Ended& ended) {
    ends.push_back(ended.kind);
    throw std::runtime_error("a bug of the program");
  });
  engine.handle_bytes("work", [](const Attempt&) {
    return done().then({.kind = "next", .payload = "a"}).then({.kind = "next", .payload = "b"});
  });
  engine.handle_bytes("next", [](const Attempt&) { return done(); });
  (void)engine.submit_bytes("work", "{}").value();

  EXPECT_EQ(engine.run_due(), 3);

  EXPECT_THAT(ends, UnorderedElementsAre("work", "next", "next"));
}

}  // namespace
}  // namespace recourse::tests
