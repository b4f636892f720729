#include "http/reach.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace recourse::http {
namespace {

Address address(const char* text) { return parse_address(text).value(); }

TEST(Reach, WhatOnlyInsidersCanReachIsNotPublic) {
  for (const char* text : {"127.0.0.1",
                           "127.255.255.254",
                           "0.0.0.0",
                           "10.0.0.1",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "169.254.169.254",
                           "100.64.0.1",
                           "100.127.255.255",
                           "192.0.0.170",
                           "192.0.2.1",
                           "198.18.0.1",
                           "198.19.255.255",
                           "198.51.100.7",
                           "203.0.113.9",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "fd12:3456::1",
                           "ff02::1",
                           "2001:db8::1",
                           "2001::1",
                           "2002:7f00:1::",
                           "fec0::1",
                           "100::1",
                           "64:ff9b:1::1",
                           "3fff::1",
                           "4000::1"}) {
    EXPECT_FALSE(is_public(address(text))) << text;
  }
}

TEST(Reach, TheEdgesOfSpecialRangesAreDrawnExactly) {
  for (const char* text :
       {"1.1.1.1",         "9.255.255.255",   "11.0.0.0",        "100.63.255.255",
        "100.128.0.0",     "126.255.255.255", "128.0.0.0",       "169.253.255.255",
        "169.255.0.0",     "172.15.255.255",  "172.32.0.0",      "192.0.1.0",
        "192.167.255.255", "192.169.0.0",     "198.17.255.255",  "198.20.0.0",
        "223.255.255.255", "2001:200::1",     "2606:4700::1111", "2a00:1450::1",
        "2003::1"}) {
    EXPECT_TRUE(is_public(address(text))) << text;
  }
}

TEST(Reach, AnAddressInsideAnotherIsWhatCounts) {
  EXPECT_FALSE(is_public(address("::ffff:127.0.0.1")));
  EXPECT_FALSE(is_public(address("::ffff:10.1.2.3")));
  EXPECT_FALSE(is_public(address("::ffff:169.254.169.254")));
  EXPECT_TRUE(is_public(address("::ffff:8.8.8.8")));
  EXPECT_FALSE(is_public(address("64:ff9b::7f00:1")));
  EXPECT_TRUE(is_public(address("64:ff9b::808:808")));
  // Compatible addresses (RFC 4291, given up long ago) carry one too.
  EXPECT_FALSE(is_public(address("::8.8.8.8")));
}

TEST(Reach, SocketAddressesAreReadInBothFamilies) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  ASSERT_EQ(inet_pton(AF_INET, "10.1.2.3", &four.sin_addr), 1);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "2a00::7", &six.sin6_addr), 1);
  sockaddr other{};
  other.sa_family = AF_UNIX;

  EXPECT_EQ(address_of(reinterpret_cast<const sockaddr&>(four)), address("10.1.2.3"));
  EXPECT_EQ(address_of(reinterpret_cast<const sockaddr&>(six)), address("2a00::7"));
  EXPECT_EQ(address_of(other), std::nullopt);
}

TEST(Reach, AnAddressIsShownAsPeopleWriteIt) {
  EXPECT_EQ(to_string(address("10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(to_string(address("::ffff:10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(to_string(address("fe80::1")), "fe80::1");
}

TEST(Reach, AllowedRangesOpenWhatPublicOnlyCloses) {
  const ReachRule rule =
      ReachRule::make({.public_only = true, .allowed = {"10.1.0.0/16", "fd00::/8", "127.0.0.1"}})
          .value();

  EXPECT_TRUE(rule.permits(address("10.1.255.255")));
  EXPECT_TRUE(rule.permits(address("::ffff:10.1.0.1")));
  EXPECT_TRUE(rule.permits(address("fdff::1")));
  EXPECT_TRUE(rule.permits(address("127.0.0.1")));
  EXPECT_TRUE(rule.permits(address("8.8.8.8")));
  EXPECT_FALSE(rule.permits(address("10.2.0.1")));
  EXPECT_FALSE(rule.permits(address("127.0.0.2")));
  EXPECT_FALSE(rule.permits(address("::1")));
}

TEST(Reach, EverythingIsPermittedWhereNothingIsAsked) {
  EXPECT_TRUE(ReachRule::make({}).value().permits(address("169.254.169.254")));
  EXPECT_TRUE(ReachRule::make({}).value().permits(std::nullopt));
  EXPECT_FALSE(ReachRule::make({.public_only = true}).value().permits(std::nullopt));
}

TEST(Reach, ARangeThatIsNoneIsRefusedByName) {
  for (const char* text : {"", "10.1.0.0/33", "10.1/16", "fd00::/129", "10.1.0.0/", "10.1.0.0/1x",
                           "10.1.0.0/-1", "example.org", "/8"}) {
    const auto rule = ReachRule::make({.public_only = true, .allowed = {text}});
    ASSERT_FALSE(rule) << text;
    EXPECT_NE(rule.error().message.find(text), std::string::npos) << rule.error().message;
  }
}

}  // namespace
}  // namespace recourse::http
