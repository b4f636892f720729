#include "create/canonical_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace recourse::create {
namespace {

std::string of(std::string_view json) { return canonical_json(json).value(); }

// IDEM-9: the examples of RFC 8785.
TEST(CanonicalJson, WritesWhatTheStandardWrites) {
  EXPECT_EQ(of(R"({
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    })"),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
  // Sorted by UTF-16 code units: the smiley's first one comes before U+FB33.
  EXPECT_EQ(of(R"({"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude02":5,"\u0080":6,"\u00f6":7})"),
            "{\"\\r\":2,\"1\":4,\"\xC2\x80\":6,\"\xC3\xB6\":7,\"\xE2\x82\xAC\":1,"
            "\"\xF0\x9F\x98\x82\":5,\"\xEF\xAC\xB3\":3}");
}

// IDEM-9: the table of appendix B.
TEST(CanonicalJson, WritesNumbersAsJavaScriptDoes) {
  const auto number = [](std::uint64_t bits) {
    std::array<char, 64> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<double>(bits)).ptr;
    return of({text.data(), static_cast<std::size_t>(end - text.data())});
  };
  EXPECT_EQ(number(0x0000000000000000), "0");
  EXPECT_EQ(number(0x8000000000000000), "0");
  EXPECT_EQ(number(0x0000000000000001), "5e-324");
  EXPECT_EQ(number(0x8000000000000001), "-5e-324");
  EXPECT_EQ(number(0x7fefffffffffffff), "1.7976931348623157e+308");
  EXPECT_EQ(number(0x4340000000000000), "9007199254740992");
  EXPECT_EQ(number(0xc340000000000000), "-9007199254740992");
  EXPECT_EQ(number(0x4430000000000000), "295147905179352830000");
  EXPECT_EQ(number(0x44b52d02c7e14af5), "9.999999999999997e+22");
  EXPECT_EQ(number(0x44b52d02c7e14af6), "1e+23");
  EXPECT_EQ(number(0x444b1ae4d6e2ef4e), "999999999999999700000");
  EXPECT_EQ(number(0x444b1ae4d6e2ef50), "1e+21");
  EXPECT_EQ(number(0x3eb0c6f7a0b5ed8c), "9.999999999999997e-7");
  EXPECT_EQ(number(0x3eb0c6f7a0b5ed8d), "0.000001");
  EXPECT_EQ(number(0x41b3de4355555555), "333333333.3333333");
  EXPECT_EQ(number(0xbecbf647612f3696), "-0.0000033333333333333333");
  EXPECT_EQ(number(0x43143ff3c1cb0959), "1424953923781206.2");
}

RC_GTEST_PROP(CanonicalJson, ReadsBackAsTheSameNumberAndChangesNoMore, (double value)) {
  RC_PRE(std::isfinite(value));
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string once = of({text.data(), static_cast<std::size_t>(end - text.data())});
  double back = 0;
  std::from_chars(once.data(), once.data() + once.size(), back);
  RC_ASSERT(back == value);
  RC_ASSERT(of(once) == once);
}

TEST(RequestHash, IsTheSameForTheSameRequestHoweverItIsWritten) {
  const std::string hash = request_hash(R"({"amount": 10.0, "member": "m-1"})").value();
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(hash, request_hash("{\"member\":\"m-1\",\n\"amount\":1e1}").value());
  EXPECT_NE(hash, request_hash(R"({"amount": 11, "member": "m-1"})").value());
  // printf '%s' '{"a":1}' | sha256sum
  EXPECT_EQ(request_hash(R"({ "a" : 1 })").value(),
            "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862");
}

TEST(RequestHash, RefusesWhatIsNoJson) {
  EXPECT_EQ(request_hash("").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash("{").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash("\"\xFF\"").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash(std::string(1'000, '[')).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash("1e400").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash("0.1e999").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash(R"({"a": 1, "a": 2})").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(request_hash("{} {}").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(of("[1e-400, [], {}, {\"b\": {\"d\": [1, 2]}, \"a\": \"\"}]"),
            R"([0,[],{},{"a":"","b":{"d":[1,2]}}])");
}

}  // namespace
}  // namespace recourse::create
