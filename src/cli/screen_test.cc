#include "cli/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

constexpr const char* kLine = "\x1b[K";
constexpr const char* kLast = "\x1b[J";

TEST(FitPicture, LeavesWhatFitsAsItIs) {
  EXPECT_EQ(fit_picture("one\ntwo\n", "q ends it", {.columns = 9, .rows = 3}),
            std::string(kLine) + "one\n" + kLine + "two\n" + kLast + "q ends it");
}

TEST(FitPicture, CutsLinesAndSaysHowManyAreLeftOut) {
  EXPECT_EQ(
      fit_picture("first line\nb\nc\nd\n", "q", {.columns = 40, .rows = 3}),
      std::string(kLine) + "first line\n" + kLine + "b\n" + kLast + "q; 2 more in a larger window");
  EXPECT_EQ(fit_picture("first line\n", "q", {.columns = 4, .rows = 3}),
            std::string(kLine) + "fir\u2026\x1b[0m\n" + kLast + "q");
}

TEST(FitPicture, ColoursTakeNoRoomAndEndWithTheirLine) {
  EXPECT_EQ(fit_picture("\x1b[31mred\x1b[0m\n", "", {.columns = 3, .rows = 2}),
            std::string(kLine) + "\x1b[31mred\x1b[0m\n" + kLast);
  EXPECT_EQ(fit_picture("\x1b[31mred and more\x1b[0m\n", "", {.columns = 4, .rows = 2}),
            std::string(kLine) + "\x1b[31mred\u2026\x1b[0m\n" + kLast);
}

TEST(FitPicture, SurvivesWindowsThatAreNone) {
  EXPECT_EQ(fit_picture("a\n", "q", {.columns = 0, .rows = 0}), std::string(kLast) + "\x1b[0m");
}

}  // namespace
}  // namespace recourse::cli
