#include "http/retry_after.h"

#include <gtest/gtest.h>

namespace recourse::http {
namespace {

using namespace std::chrono_literals;

// Sun, 06 Nov 1994 08:49:37 GMT, the RFC's own example.
constexpr TimePoint kExample{std::chrono::seconds(784111777)};

TEST(RetryAfter, SecondsAreReadAndBounded) {
  EXPECT_EQ(parse_retry_after("0", kExample), 0s);
  EXPECT_EQ(parse_retry_after("120", kExample), 120s);
  EXPECT_EQ(parse_retry_after("99999999999", kExample), kLongestWait);
  EXPECT_EQ(parse_retry_after("99999999999999999999999999", kExample), kLongestWait);
}

TEST(RetryAfter, ADateIsReadInAllThreeForms) {
  for (const char* date : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_retry_after(date, kExample - 90s), 90s) << date;
    EXPECT_EQ(parse_retry_after(date, kExample + 90s), 0s) << date;
  }
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 2094 08:49:37 GMT", kExample), kLongestWait);
}

TEST(RetryAfter, WhatIsNeitherIsNoWish) {
  for (const char* text : {"", "-5", "1.5", "soon", "5 minutes", "1994-11", "12:30"}) {
    EXPECT_EQ(parse_retry_after(text, kExample), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace recourse::http
