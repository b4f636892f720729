#include "http/message.h"

#include <gtest/gtest.h>

namespace recourse::http {
namespace {

TEST(Headers, AreFoundWhateverTheirCapitals) {
  const Headers headers{{"Content-Type", "text/plain"}, {"content-type", "second"}};

  EXPECT_EQ(headers.find("CONTENT-TYPE"), "text/plain");
  EXPECT_EQ(headers.find("Content-Typ"), std::nullopt);
}

TEST(Headers, SetReplacesAllOfThatName) {
  Headers headers{{"A", "1"}, {"a", "2"}, {"B", "3"}};

  headers.set("A", "4");

  EXPECT_EQ(headers.find("a"), "4");
  EXPECT_EQ(headers.fields().size(), 2U);
}

TEST(Request, FindsTheFirstParameterOfAName) {
  const Request request{.query = {{"kind", "mail"}, {"kind", "sms"}}};

  EXPECT_EQ(request.parameter("kind"), "mail");
  EXPECT_EQ(request.parameter("Kind"), std::nullopt);
}

}  // namespace
}  // namespace recourse::http
