#include "message/refusals.h"

#include <gtest/gtest.h>

#include <string>

#include "message/key.h"

namespace recourse::message {
namespace {

store::MessageKey refused_key(std::string_view id) {
  return key_of({.source = "shop", .group = "billing", .topic = "orders"}, id);
}

TEST(Refusals, KnowsEachMessageOnce) {
  Refusals refusals;

  EXPECT_TRUE(refusals.add(refused_key("a")));
  EXPECT_TRUE(refusals.add(refused_key("b")));
  EXPECT_FALSE(refusals.add(refused_key("a")));
}

TEST(Refusals, ForgetsTheOldestBeyondItsBound) {
  Refusals refusals;
  for (std::size_t i = 0; i <= Refusals::kKept; ++i) {
    ASSERT_TRUE(refusals.add(refused_key("m-" + std::to_string(i))));
  }

  EXPECT_FALSE(refusals.add(refused_key("m-1")));
  EXPECT_TRUE(refusals.add(refused_key("m-0")));
}

}  // namespace
}  // namespace recourse::message
