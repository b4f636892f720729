#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse {
namespace {

TEST(CleanText, LeavesGoodTextAlone) {
  EXPECT_EQ(clean_text("积分服务不可用 \xF0\x9F\x94\xA5 ok", 100),
            "积分服务不可用 \xF0\x9F\x94\xA5 ok");
}

TEST(CleanText, ReplacesWhatIsNoCharacter) {
  EXPECT_EQ(clean_text(std::string_view("a\0b", 3), 10),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(clean_text("\xFF", 10), "\xEF\xBF\xBD");
  EXPECT_EQ(clean_text("\xE7\xA7", 10), "\xEF\xBF\xBD\xEF\xBF\xBD")
      << "a character cut in the middle";
  EXPECT_EQ(clean_text("\xC0\x80", 10), "\xEF\xBF\xBD\xEF\xBF\xBD") << "NUL spelled too long";
  EXPECT_EQ(clean_text("\xED\xA0\x80", 10), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")
      << "a surrogate";
  EXPECT_EQ(clean_text("\xF4\x90\x80\x80", 1), "\xEF\xBF\xBD") << "beyond Unicode";
}

TEST(CleanText, CutsOnCharacters) {
  EXPECT_EQ(clean_text("积分服务", 2), "积分");
  EXPECT_EQ(clean_text("abc", 0), "");
}

TEST(PlainText, IsWhatAKeyMayBe) {
  EXPECT_TRUE(is_plain_text(""));
  EXPECT_TRUE(is_plain_text("会员-7 \xF0\x9F\x94\xA5"));
  EXPECT_FALSE(is_plain_text("a\nb"));
  EXPECT_FALSE(is_plain_text("a\x7F"));
  EXPECT_FALSE(is_plain_text("\xFF\xFE"));
  EXPECT_FALSE(is_plain_text(std::string_view("\0", 1)));
}

TEST(Shown, IsQuotedShortAndHarmless) {
  EXPECT_EQ(shown("tsk"), "\"tsk\"");
  EXPECT_EQ(shown("\x1b[31m"), "\"?[31m\"");
  EXPECT_EQ(shown(std::string(40, 'x')), '"' + std::string(40, 'x') + '"');
  EXPECT_EQ(shown(std::string(1'000'000, 'x')), '"' + std::string(40, 'x') + "...\"");
}

RC_GTEST_PROP(CleanText, WhatIsCleanStaysAsItIs, (const std::string& text)) {
  const std::string clean = clean_text(text, 1'000);

  RC_ASSERT(clean_text(clean, 1'000) == clean);
  RC_ASSERT(clean.find('\0') == std::string::npos);
  RC_ASSERT(clean_text(text, 3).size() <= 12U);
}

TEST(OneLine, BreaksAndControlCharactersBecomeSingleSpaces) {
  EXPECT_EQ(one_line("\n\tTraceback:\r\n  File \x1B[31m\"a.py\"\x7F\n", 100),
            "Traceback: File [31m\"a.py\"");
  EXPECT_EQ(one_line(" \n ", 100), "");
}

TEST(OneLine, IsCleanAndCutOnACharacter) {
  EXPECT_EQ(one_line("t\xC3\xA4xt\xFF", 100), "t\xC3\xA4xt\xEF\xBF\xBD");
  EXPECT_EQ(one_line("t\xC3\xA4xt", 2), "t\xC3\xA4");
  EXPECT_EQ(one_line("ab  cd", 3), "ab");
}

TEST(Counted, HasAnEndingForAllButOne) {
  EXPECT_EQ(counted(1, "task"), "1 task");
  EXPECT_EQ(counted(0, "task"), "0 tasks");
  EXPECT_EQ(counted(2U, "dead letter"), "2 dead letters");
}

TEST(CleanText, EveryByteOfACharacterIsLookedAt) {
  const std::string bad = "\xEF\xBF\xBD";

  EXPECT_EQ(clean_text("\xE0\x80\x80", 10), bad + bad + bad) << "three bytes where one would do";
  EXPECT_EQ(clean_text("\xF0\x80\x80\x80", 10), bad + bad + bad + bad) << "four where one would";
  EXPECT_EQ(clean_text("\xE7\xA7"
                       "A",
                       10),
            bad + bad + "A")
      << "a third byte that is none";
}

}  // namespace
}  // namespace recourse
