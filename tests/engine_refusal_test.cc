// What an engine refuses, and how it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace recourse::tests
