#include "cli/filter_flags.h"

#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

TEST(FilterFlags, BecomeParametersOfAList) {
  const FilterFlags flags{.states = {"dead", "failed"}, .kinds = {"a"}, .key = "order=4=7"};
  const Parameters expected{
      {"state", "dead"}, {"state", "failed"}, {"kind", "a"}, {"key.order", "4=7"}};
  EXPECT_EQ(*to_parameters(flags), expected);
}

TEST(FilterFlags, BecomeTheFilterOfAJob) {
  const FilterFlags flags{.states = {"dead"}, .kinds = {"a", "b"}, .key = "order="};
  EXPECT_EQ(boost::json::serialize(*to_filter(flags)),
            R"({"state":["dead"],"kind":["a","b"],"keys":{"order":""}})");
}

TEST(FilterFlags, SayHowAKeyIsWritten) {
  EXPECT_FALSE(to_filter({.key = "order"}));
  EXPECT_FALSE(to_parameters({.key = "=7"}));
}

TEST(FilterFlags, AreASentenceForWhoeverIsAsked) {
  EXPECT_EQ(describe({}, 2), "tasks");
  EXPECT_EQ(describe({.states = {"dead", "failed"}, .kinds = {"a"}, .key = "x=1"}, 1),
            "dead or failed task of a with x=1");
}

}  // namespace
}  // namespace recourse::cli
