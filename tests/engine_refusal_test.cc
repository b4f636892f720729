// What an engine refuses, and how it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>

#include "recourse/engine.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

class EngineRefuses : public ::testing::Test {
 protected:
  Engine engine_ = Engine::open({.store = "memory:"}).value();
};

TEST_F(EngineRefuses, AnUnknownStore) {
  const auto engine = Engine::open({.store = "oracle://scott:tiger@db"});
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("sqlite:FILE"));
  EXPECT_THAT(engine.error().message, ::testing::Not(HasSubstr("tiger")));
}

TEST_F(EngineRefuses, AnUnknownBackoff) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());
  const auto id = engine_.submit_bytes("work", "{}", {.backoff = "quadratic"});
  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message, HasSubstr("exponential"));
}

TEST_F(EngineRefuses, APayloadOverTheLimit) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());
  const auto id = engine_.submit_bytes("work", std::string(256 * 1024 + 1, 'x'));
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, ErrorCode::kInvalid);
}

TEST_F(EngineRefuses, TheSameKindTwice) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  const auto started = engine_.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("has a handler already"));
}

TEST_F(EngineRefuses, ASubmitBeforeTheStart) { EXPECT_FALSE(engine_.submit_bytes("work", "{}")); }

// Whatever users hand to the engine runs on its threads, and may throw.
TEST(EngineSurvives, ALogThatThrows) {
  Engine engine =
      Engine::open({.store = "memory:", .log = [](std::string_view, std::string_view) { throw 7; }})
          .value();
  engine.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine.start());

  EXPECT_TRUE(engine.submit_bytes("work", "{}"));
}

TEST(EngineSurvives, CallbacksThatUseTheEngineUntilItIsGone) {
  std::atomic<int> answers = 0;
  {
    Engine engine = Engine::open({.store = "memory:"}).value();
    engine.handle_bytes("work", [](const Attempt&) { return done(); });
    engine.on_end([&](const Ended&) { (void)engine.submit_bytes("work", "again"); });
    ASSERT_TRUE(engine.start());
    for (int i = 0; i < 20; ++i) {
      engine.submit_async({.kind = "work"}, [&](const Result<TaskIdText>&) {
        ++answers;
        (void)engine.submit_bytes("work", "from a callback");
      });
    }
  }
  EXPECT_EQ(answers, 20);
}

TEST_F(EngineRefuses, WhatIsRegisteredTooLateAndLogsIt) {
  std::atomic<int> errors = 0;
  Engine engine = Engine::open({.store = "memory:",
                                .log =
                                    [&](std::string_view level, std::string_view) {
                                      if (level == "error") ++errors;
                                    }})
                      .value();
  ASSERT_TRUE(engine.start());

  engine.handle_bytes("late", [](const Attempt&) { return done(); });
  engine.on_end([](const Ended&) {});
  engine.schedule({.name = "late", .when = "@daily", .kind = "late"});

  EXPECT_EQ(errors, 3);
}

TEST_F(EngineRefuses, WhatItsRouterCannotRoute) {
  Engine engine = Engine::open({.store = "memory:",
                                .router = [](const ToRoute& task) -> std::string {
                                  if (task.tenant == "bad")
                                    throw std::runtime_error("no such region");
                                  return task.tenant;
                                }})
                      .value();
  ASSERT_TRUE(engine.start());

  EXPECT_TRUE(engine.submit_bytes("work", "{}", {.tenant = "good"}));
  const auto refused = engine.submit_bytes("work", "{}", {.tenant = "bad"});

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no such region"));
}

}  // namespace
}  // namespace recourse::tests
