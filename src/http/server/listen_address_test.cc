#include "http/server/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::http {
namespace {

TEST(ListenAddress, IsAHostAndAPort) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:7070").value().port, 7070);
  EXPECT_EQ(parse_listen_address("localhost:0").value().host, "localhost");
  EXPECT_EQ(parse_listen_address("[::1]:65535").value().host, "::1");
}

TEST(ListenAddress, SaysWhatItShouldLookLike) {
  for (const std::string_view text :
       {"", "7070", ":7070", "localhost", "localhost:", "localhost:x", "localhost:70700",
        "localhost:-1", "::1:7070", "[::1]", "[localhost]:1", "[]:1", "a\n:1", "localhost:7070 "}) {
    const Result<ListenAddress> parsed = parse_listen_address(text);

    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("must be HOST:PORT")) << text;
  }
}

}  // namespace
}  // namespace recourse::http
