#include "cli/colors.h"

#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

TEST(Colors, AreForTerminalsOfPeopleWhoDoNotMind) {
  EXPECT_TRUE(wants_color({.is_terminal = true}));
  EXPECT_TRUE(wants_color({.no_color = "", .is_terminal = true}))
      << "an empty NO_COLOR says nothing";
  EXPECT_FALSE(wants_color({.is_terminal = false}));
  EXPECT_FALSE(wants_color({.refused = true, .is_terminal = true}));
  EXPECT_FALSE(wants_color({.no_color = "1", .is_terminal = true}));
  EXPECT_FALSE(wants_color({.term = "dumb", .is_terminal = true}));
}

TEST(Colors, SwitchedOffLeaveTheTextAlone) {
  EXPECT_EQ(Colors(false).red("dead"), "dead");
  EXPECT_EQ(Colors(true).red("dead"), "\x1b[31mdead\x1b[0m");
  EXPECT_EQ(Colors(true).red(""), "");
}

}  // namespace
}  // namespace recourse::cli
