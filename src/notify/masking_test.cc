#include "notify/masking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace recourse::notify {
namespace {

std::string masked(std::string_view text, const MaskingSettings& settings = {}) {
  return Masker::make(settings).value().masked(text);
}

void expect_all(const std::map<std::string, std::string>& cases) {
  for (const auto& [text, expected] : cases) EXPECT_EQ(masked(text), expected) << text;
}

TEST(Masking, HidesPasswordsInUrls) {
  expect_all({
      {"postgres://app:hunter2@db:5432/orders refused",
       "postgres://app:***@db:5432/orders refused"},
      {"amqp://u:p@ss/word@mq", "amqp://u:***@mq"},
      {"https://ghp_0123456789abcdef@github.com/x", "https://***@github.com/x"},
      {"GET http://host:8080/users/a@b.c failed", "GET http://host:8080/users/a@b.c failed"},
      {"see https://example.org/page", "see https://example.org/page"},
      {"ssh://git@host/x", "ssh://git@host/x"},
  });
}

TEST(Masking, HidesWhatAuthorizes) {
  expect_all({
      {"Authorization: Basic dXNlcjpwYXNz", "Authorization: ***"},
      {"authorization=Digest a, b\nnext", "authorization=***\nnext"},
      {R"({"Authorization":"Bearer abc.def.ghi","x":1})", R"({"Authorization":"***","x":1})"},
      {"sent Bearer eyJhbGciOi.J9.x-_y and failed", "sent Bearer *** and failed"},
      {"Basic authentication failed", "Basic authentication failed"},
  });
}

TEST(Masking, HidesValuesWhoseNamesSayThatTheyAreSecret) {
  expect_all({
      {"password=hunter2&user=a", "password=***&user=a"},
      {"db_password: hunter2, retrying", "db_password: ***, retrying"},
      {R"({"client_secret": "a b\"c", "id": 7})", R"({"client_secret": "***", "id": 7})"},
      {R"("body": "{\"token\":\"abc\",\"n\":1}")", R"("body": "{\"token\":\"***\",\"n\":1}")"},
      {"X-Api-Key: k123", "X-Api-Key: ***"},
      {"pwd='a;b'", "pwd='***'"},
      {"tokens_used=17", "tokens_used=17"},
      {"the password is wrong", "the password is wrong"},
      {"password=", "password="},
  });
}

TEST(Masking, HidesCardNumbersButForTheirLastFourDigits) {
  expect_all({
      {"card 4111111111111111 refused", "card ***1111 refused"},
      {"card-4111 1111 1111 1111 2", "card-***1111 2"},
      {"3782-822463-10005.", "***0005."},
      {"order 1700000000000 at 2026-11-16", "order 1700000000000 at 2026-11-16"},
      {"tsk_01ARZ3NDEK4111111111111111", "tsk_01ARZ3NDEK4111111111111111"},
  });
}

TEST(Masking, HidesNamesBeforeAnAtSignOnlyWhereAsked) {
  EXPECT_EQ(masked("to jane.doe+x@example.org"), "to jane.doe+x@example.org");
  EXPECT_EQ(masked("to jane.doe+x@example.org", {.masks = {Mask::kEmail}}), "to ***@example.org");
}

TEST(Masking, TakesPatternsOfTheUser) {
  const MaskingSettings settings{.masks = {}, .patterns = {R"(acct-\d+)", R"(iban (\w+))"}};
  EXPECT_EQ(masked("ACCT-17 and IBAN DE02\nacct-4", settings), "*** and IBAN ***\n***");
}

TEST(Masking, RefusesPatternsByNameThatCannotBeUsed) {
  for (const char* pattern : {"(", "[a", R"((a)\1)", "a*", "", "(a{100}){100}", "a{9999}"}) {
    const Result<> valid = validate(MaskingSettings{.patterns = {"fine", pattern}});
    ASSERT_FALSE(valid) << pattern;
    EXPECT_TRUE(valid.error().message.starts_with("masking.patterns: \"")) << valid.error().message;
  }
  EXPECT_FALSE(validate(MaskingSettings{.patterns = std::vector<std::string>(51, "a")}));
  EXPECT_FALSE(validate(MaskingSettings{.patterns = {std::string(501, 'a')}}));
}

// A backtracking engine needs 2^n steps for the first, and a stack frame a byte for the second; n^2
// of them are too many as well.
TEST(Masking, IsQuickAndShallowOnTextsMadeToHurt) {
  const MaskingSettings settings{.patterns = {"(a+)+b", "(x|y)+z"}};
  const std::string text(kMaskedBytesMax, 'a');
  EXPECT_EQ(masked(text, settings), text);
  EXPECT_EQ(masked(std::string(5'000'000, 'x'), settings).size(), kMaskedBytesMax);
}

RC_GTEST_PROP(Masking, MaskedTwiceIsMaskedOnce, (const std::string& text)) {
  const MaskingSettings all{.masks = {kAllMasks.begin(), kAllMasks.end()}};
  const std::string once = masked(text, all);
  RC_ASSERT(masked(once, all) == once);
}

RC_GTEST_PROP(Masking, NoSecretSurvivesWhateverStandsAroundIt,
              (std::string before, const std::string& after)) {
  const std::string secret = *rc::gen::container<std::string>(
      20, rc::gen::elementOf(
              std::string("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789")));
  for (const char* frame :
       {"password={}", "\"token\": \"{}\"", "https://u:{}@host/", "Bearer {}"}) {
    std::string middle = frame;
    middle.replace(middle.find("{}"), 2, secret);
    // A blank, so that no letter before it makes the name another one; a quote would open a value.
    std::erase(before, '"');
    std::erase(before, '\'');
    RC_ASSERT(masked(before + "\n" + middle + " " + after).find(secret) == std::string::npos);
  }
}

}  // namespace
}  // namespace recourse::notify
