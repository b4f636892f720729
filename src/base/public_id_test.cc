#include "base/public_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kTaskId = "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV";

std::string complaint(std::string_view text) {
  const Result<PublicId> parsed = parse_public_id("task", text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? std::string() : parsed.error().message;
}

TEST(PublicId, DecodesBackToTypeAndId) {
  const PublicId id = parse_public_id("task", kTaskId).value();

  EXPECT_EQ(id.type, "tsk");
  EXPECT_EQ(to_string(id.id), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(to_string(id), kTaskId);
}

TEST(PublicId, FitsFortyCharactersWithTheLongestType) {
  EXPECT_LE(to_string(PublicId{"abcdefghij", Ulid{}}).size(), 40U);
}

TEST(PublicId, ParsingQuotesWhatWasGivenAndSaysWhatIsWrong) {
  EXPECT_THAT(complaint(""), HasSubstr("no '_'"));
  EXPECT_THAT(complaint("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
              AllOf(HasSubstr("task must be an id"), HasSubstr("\"01ARZ3NDEKTSV4RRFFQ69G5FAV\""),
                    HasSubstr("no '_'")));
  EXPECT_THAT(complaint("t_01ARZ3NDEKTSV4RRFFQ69G5FAV"), HasSubstr("2 to 10 of a-z and 0-9"));
  EXPECT_THAT(complaint("TSK_01ARZ3NDEKTSV4RRFFQ69G5FAV"), HasSubstr("2 to 10 of a-z and 0-9"));
  EXPECT_THAT(complaint("elevenchars_01ARZ3NDEKTSV4RRFFQ69G5FAV"), HasSubstr("2 to 10"));
  EXPECT_THAT(complaint("tsk_01ARZ"), HasSubstr("26 characters, not 5"));
  EXPECT_THAT(complaint("tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV "), HasSubstr("not 27"));
  EXPECT_THAT(complaint("tsk__1ARZ3NDEKTSV4RRFFQ69G5FAV"), HasSubstr("character 1 ('_')"));
}

TEST(PublicId, AComplaintIsShortAndPrintableWhateverWasGiven) {
  const std::string message = complaint(std::string(5'000, '\x1b'));

  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(PublicId, AnotherTypeIsRefusedByName) {
  const Result<Ulid> id = parse_public_id("task", "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", "tsk");

  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message, HasSubstr("its type is ord, and tsk belongs here"));
  EXPECT_TRUE(parse_public_id("task", kTaskId, "tsk"));
}

TEST(PublicId, AResourceTypeIsCheckedByFieldName) {
  EXPECT_TRUE(check_id_type("resource_type", "ord"));
  EXPECT_EQ(check_id_type("resource_type", "Order").error().message,
            "resource_type must be 2 to 10 characters of a-z and 0-9, not \"Order\"");
}

RC_GTEST_PROP(PublicId, AnIdWithOneCharacterChangedIsRefusedOrSpelledSo, ()) {
  std::string text(kTaskId);
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text[at] = *rc::gen::arbitrary<char>();

  const Result<PublicId> parsed = parse_public_id("task", text);

  if (parsed) RC_ASSERT(to_string(*parsed) == text);
  if (!parsed) RC_ASSERT(parsed.error().code == ErrorCode::kInvalid);
}

}  // namespace
}  // namespace recourse
