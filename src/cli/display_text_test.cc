#include "cli/display_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace recourse::cli {
namespace {

TEST(DisplayText, CountsCellsAndNotBytes) {
  EXPECT_EQ(width_of("grant"), 5U);
  EXPECT_EQ(width_of("caf\u00e9"), 4U);
  EXPECT_EQ(width_of("e\u0301"), 1U) << "a mark sits on its letter";
  EXPECT_EQ(width_of("\u4eba\u5de5"), 4U);
  EXPECT_EQ(width_of("\U0001F600"), 2U);
  EXPECT_EQ(width_of("\uff21"), 2U);
  EXPECT_EQ(width_of(""), 0U);
}

TEST(DisplayText, IsCutOnWholeCharacters) {
  EXPECT_EQ(cut_to("grant-points", 12), "grant-points");
  EXPECT_EQ(cut_to("grant-points", 6), "grant\u2026");
  EXPECT_EQ(cut_to("\u4eba\u5de5\u5904\u7406", 6), "\u4eba\u5de5\u2026") << "half a letter is none";
  EXPECT_EQ(cut_to("grant", 1), "\u2026");
  EXPECT_EQ(cut_to("grant", 0), "");
}

TEST(DisplayText, HoldsNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b]0;title\x07z"), "a\uFFFD]0;title\uFFFDz");
  EXPECT_EQ(printable("one\ntwo\tthree"), "one two three");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\uFFFD31m");
  EXPECT_EQ(printable("bad\xFF"), "bad\uFFFD");
}

TEST(DisplayText, NothingIsEverWiderThanItsCut) {
  EXPECT_TRUE(rc::check([](const std::string& text, std::uint8_t width) {
    const std::string cut = cut_to(text, width);
    RC_ASSERT(width_of(cut) <= width);
    RC_ASSERT(printable(cut) == cut);
  }));
}

}  // namespace
}  // namespace recourse::cli
