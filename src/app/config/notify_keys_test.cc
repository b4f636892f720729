#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems_of_channel(const std::string& keys) {
  return problems_of("notify: {channels: {ops: {" + keys + "}}}",
                     {{"URL", "https://chat.example.com/hook"}, {"SECRET", "canary"}});
}

// CFG-2: what a channel would ignore is refused.
TEST(ChannelConfig, TakesNothingThatItsTypeDoesNotHave) {
  EXPECT_THAT(problems_of_channel("type: feishu, url: env:URL, secret: env:SECRET"), IsEmpty());
  EXPECT_THAT(problems_of_channel("type: dingtalk, url: env:URL, secret: env:SECRET"), IsEmpty());
  for (const std::string type : {"slack", "wecom", "webhook"}) {
    EXPECT_THAT(problems_of_channel("type: " + type + ", url: env:URL, secret: env:SECRET"),
                ElementsAre(HasSubstr("notify.channels.ops.secret is for the type feishu or "
                                      "dingtalk, and this one's is " +
                                      type + ": leave it out")));
  }
  EXPECT_THAT(problems_of_channel("type: email, url: env:URL"),
              ElementsAre(HasSubstr("notify.channels.ops.url is for the type webhook, slack")));
  EXPECT_THAT(problems_of_channel("type: email, secret: env:SECRET"),
              ElementsAre(HasSubstr("and this one's is email: leave it out")));
  EXPECT_THAT(problems_of_channel("type: slack, url: env:URL, server: 'smtps://mail'"),
              ElementsAre(HasSubstr("notify.channels.ops.server is for the type email")));
}

// NOTE-3
TEST(ChannelConfig, SaysWhereItMayGoAndWhomItTrusts) {
  const Config config = config_of(
      "notify: {channels: {ops: {type: slack, url: env:URL, authorities: /etc/ca.pem, "
      "reach: {public-only: true, allowed: [10.1.0.0/16, 'fd00::/8']}}}}",
      {{"URL", "https://chat.example.com/hook"}});
  const ChannelConfig& channel = config.notify.channels.at("ops");
  EXPECT_TRUE(channel.reach.public_only);
  EXPECT_THAT(channel.reach.allowed, ElementsAre("10.1.0.0/16", "fd00::/8"));
  EXPECT_EQ(channel.authorities, "/etc/ca.pem");
  EXPECT_THAT(problems_of_channel("type: slack, url: env:URL, reach: {allowed: [intranet]}"),
              ElementsAre(HasSubstr("must be a network such as 10.1.0.0/16")));
}

}  // namespace
}  // namespace recourse::app
