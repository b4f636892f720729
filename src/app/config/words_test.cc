// Sizes, near misses, and what single texts must look like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "app/config/overlay.h"
#include "app/config/rows.h"
#include "app/config/size_text.h"
#include "app/config/suggest.h"
#include "app/config/text_checks.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(SizeText, IsReadInItsUnits) {
  EXPECT_EQ(parse_size("64MiB").value(), std::size_t{64} << 20);
  EXPECT_EQ(parse_size("8KiB").value(), 8'192U);
  EXPECT_EQ(parse_size("2GiB").value(), std::size_t{2} << 30);
  EXPECT_EQ(parse_size("512").value(), 512U);
  EXPECT_EQ(parse_size("512B").value(), 512U);
}

TEST(SizeText, WhatIsAmbiguousIsRefused) {
  for (const std::string_view text : {"", "MiB", "64M", "64mb", "64MB", "-1", "1.5MiB", "64 MiB",
                                      "99999999999999999999", "99999999999GiB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(SizeText, EverySizeParsesBack) {
  EXPECT_TRUE(rc::check(
      [](std::size_t bytes) { RC_ASSERT(parse_size(format_size(bytes)).value() == bytes); }));
}

TEST(Suggest, CountsLettersToChange) {
  EXPECT_EQ(edit_distance("listen", "listen"), 0U);
  EXPECT_EQ(edit_distance("lsiten", "listen"), 1U);
  EXPECT_EQ(edit_distance("max_retries", "max-retries"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Suggest, OnlyWhatIsNearIsMeant) {
  const std::vector<std::string> known{"listen", "threads", "connections"};

  EXPECT_EQ(nearest("thread", known), "threads");
  EXPECT_EQ(nearest("colour", known), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'x'), known), std::nullopt);
}

TEST(TextChecks, WhereToListen) {
  for (const std::string_view good : {"127.0.0.1:7070", "localhost:0", "[::1]:443", "[::]:65535"}) {
    EXPECT_THAT(check_listen(good), IsEmpty()) << good;
  }
  for (const std::string_view bad : {"", "7070", ":7070", "localhost",
                                     "localhost:", "localhost:65536", "::1:7070", "a:b", "a:-1"}) {
    EXPECT_THAT(check_listen(bad), HasSubstr("must be HOST:PORT")) << bad;
  }
}

TEST(TextChecks, AUrlHasASchemeAndAHostAndNoPassword) {
  for (const std::string_view good : {"http://a", "https://a.example:8443/x?y=1", "HTTPS://a/"}) {
    EXPECT_THAT(check_url(good), IsEmpty()) << good;
  }
  for (const std::string_view bad : {"", "a.example/x", "ftp://a", "http://", "http:///x",
                                     "http://:80", "http://a b", "file:///etc/passwd"}) {
    EXPECT_THAT(check_url(bad), HasSubstr("must be a URL")) << bad;
  }
  const std::string with_password = check_url("https://user:hush@a.example/");
  EXPECT_THAT(with_password, HasSubstr("secret-headers"));
  EXPECT_THAT(with_password, testing::Not(HasSubstr("hush")));
}

TEST(TextChecks, HeadersThatAreNotForTheFile) {
  EXPECT_THAT(check_header_name("X-Source"), IsEmpty());
  EXPECT_THAT(check_header_name("authorization"), HasSubstr("secret-headers"));
  EXPECT_THAT(check_header_name("Content-Length"), HasSubstr("sets it itself"));
  EXPECT_THAT(check_header_name("Recourse-Task"), HasSubstr("sets it itself"));
  EXPECT_THAT(check_header_name("X Source"), HasSubstr("name of an HTTP header"));
  EXPECT_THAT(check_header_name("X:\r\nY"), HasSubstr("name of an HTTP header"));
}

TEST(Quoting, WhatYamlWouldReadOtherwiseIsQuoted) {
  EXPECT_EQ(quoted_if_needed("127.0.0.1:7070"), "127.0.0.1:7070");
  EXPECT_EQ(quoted_if_needed("env:NAME"), "env:NAME");
  EXPECT_EQ(quoted_if_needed("a: b"), "\"a: b\"");
  EXPECT_EQ(quoted_if_needed(""), "\"\"");
  EXPECT_EQ(quoted_if_needed("null"), "\"null\"");
  EXPECT_EQ(quoted_if_needed("say \"hi\""), "\"say \\\"hi\\\"\"");
}

TEST(Variables, AreNamedAfterTheirKeys) {
  EXPECT_EQ(variable_of("retry.stick.lease-ttl"), "RECOURSE__RETRY__STICK__LEASE_TTL");
}

}  // namespace
}  // namespace recourse::app
