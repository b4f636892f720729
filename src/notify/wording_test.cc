#include "notify/wording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "notify/channels/http_fixture.h"

namespace recourse::notify {
namespace {

TEST(Wording, TheHeadlineSaysWhatHowBadAndHowOften) {
  EXPECT_EQ(headline(full_notice()),
            "Recourse [error] Reminder 2: Retries used up: grant-points (and 412 more)");
  EXPECT_EQ(headline({.event = Event::kEngineError}), "Recourse [critical] Engine error");
}

TEST(Wording, FactsLeaveOutWhatIsNotKnown) {
  std::string labels;
  for (const Fact& fact : facts_of({.event = Event::kEngineError, .node = "n"}))
    labels += fact.label + " ";
  EXPECT_EQ(labels, "Node Time ");
}

TEST(Wording, PlainTextHasEverything) {
  const std::string text = plain_text(full_notice());
  for (const char* part : {"Task: tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV", "Retries: 5 of 5", "shard: 7",
                           "line 1 <b>", "and 412 more", "https://recourse.example/"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
}

RC_GTEST_PROP(Wording, CutsOnACharacter, (const std::string& raw)) {
  const std::string text = clean_text(raw + "\u5931\u8D25\u00E4\U0001F600", 1'000);
  const auto most = *rc::gen::inRange<std::size_t>(0, 40);
  const std::string bytes = cut_to_bytes(text, most);
  RC_ASSERT(bytes.size() <= most);
  RC_ASSERT(clean_text(bytes, 1'000) == bytes);
  RC_ASSERT(clean_text(cut_to_characters(text, most), most) == cut_to_characters(text, most));
}

}  // namespace
}  // namespace recourse::notify
