#include "http/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::http {
namespace {

TEST(Base64, KnowsTheStandardsOwnExamples) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64(std::string("\x00\xff\xfe", 3)), "AP/+");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(from_base64("Zm8="), "fo");
  EXPECT_EQ(from_base64(""), "");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg==\n", " Zg==", "Z===", "====", "Zg=a", "Z-_=", "=Zg="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Base64, GivesBackAnyBytes, (const std::string& bytes)) {
  RC_ASSERT(from_base64(to_base64(bytes)) == bytes);
}

}  // namespace
}  // namespace recourse::http
