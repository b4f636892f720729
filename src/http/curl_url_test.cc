#include "http/curl_url.h"

#include <gtest/gtest.h>

namespace recourse::http {
namespace {

TEST(CurlUrl, NamesOnlyWhatIsNoSecret) {
  const auto destination = destination_of("https://user:hunter2@Example.org/path/t0ken?key=s3cret");

  ASSERT_TRUE(destination);
  EXPECT_EQ(destination->origin, "https://Example.org:443");
  EXPECT_TRUE(destination->has_name);
}

TEST(CurlUrl, TellsNamesFromAddresses) {
  EXPECT_FALSE(destination_of("http://127.0.0.1:80/")->has_name);
  EXPECT_FALSE(destination_of("http://[::1]:8080/")->has_name);
  EXPECT_FALSE(destination_of("http://[fe80::1%25eth0]/")->has_name);
  EXPECT_TRUE(destination_of("http://localhost/")->has_name);
  // Spellings that libcurl reads as 127.0.0.1.
  EXPECT_FALSE(destination_of("http://2130706433/")->has_name);
  EXPECT_FALSE(destination_of("http://0x7f.1/")->has_name);
}

TEST(CurlUrl, RefusesOtherSchemesAndWhatIsNoUrl) {
  for (const char* url : {"", "ftp://example.org/", "file:///etc/passwd", "gopher://x/", "http://",
                          "http://exa mple.org/", "example.org:hunter2"}) {
    const auto destination = destination_of(url);
    ASSERT_FALSE(destination) << url;
    EXPECT_EQ(destination.error().message.find("hunter2"), std::string::npos);
  }
  EXPECT_FALSE(destination_of(std::string("http://a/\0b", 11)));
}

}  // namespace
}  // namespace recourse::http
