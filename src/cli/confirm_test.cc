#include "cli/confirm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <utility>

namespace recourse::cli {
namespace {

using testing::HasSubstr;

struct Asked {
  Confirmed confirmed;
  std::string said;
};

Asked ask(const Question& question, const Asking& asking, const std::string& answer) {
  std::istringstream in(answer);
  std::ostringstream out;
  const Confirmed confirmed = confirm(question, asking, in, out);
  return {confirmed, out.str()};
}

constexpr Asking kTerminal{.is_terminal = true};

TEST(Confirm, TakesAYAndNothingLess) {
  const Question question{.what = "Cancels 12 tasks."};

  EXPECT_EQ(ask(question, kTerminal, "y\n").confirmed, Confirmed::kYes);
  EXPECT_EQ(ask(question, kTerminal, " yes \n").confirmed, Confirmed::kYes);
  for (const char* answer : {"\n", "n\n", "yep\n", ""}) {
    EXPECT_EQ(ask(question, kTerminal, answer).confirmed, Confirmed::kNo) << answer;
  }
  EXPECT_EQ(ask(question, kTerminal, "y\n").said, "Cancels 12 tasks. Go on? [y/N] ");
}

TEST(Confirm, WantsAWordForTheGravest) {
  const Question question{.what = "Deletes everything.", .type_word = "grant-points"};

  EXPECT_EQ(ask(question, kTerminal, "grant-points\n").confirmed, Confirmed::kYes);
  EXPECT_EQ(ask(question, kTerminal, "y\n").confirmed, Confirmed::kNo);
  EXPECT_THAT(ask(question, kTerminal, "").said, HasSubstr("Type grant-points to go on: "));
}

TEST(Confirm, IsNotAskedWhereItIsAssumed) {
  const Asked asked = ask({.what = "Deletes everything."}, {.assumed = true}, "");

  EXPECT_EQ(asked.confirmed, Confirmed::kYes);
  EXPECT_EQ(asked.said, "");
}

TEST(Confirm, TellsAScriptWhatToDo) {
  const Asked asked = ask({.what = "Cancels 12 tasks."}, {}, "y\n");

  EXPECT_EQ(asked.confirmed, Confirmed::kNobodyToAsk);
  EXPECT_EQ(asked.said, "Cancels 12 tasks. Nobody is here to ask: add --yes to go on.\n");
}

}  // namespace
}  // namespace recourse::cli
