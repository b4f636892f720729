#include "notify/log_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "notify/channels/http_fixture.h"

namespace recourse::notify {
namespace {

using testing::HasSubstr;

// NOTE-3
TEST(LogChannel, WritesOneLineWithTheNoticesFields) {
  MemoryLog log;
  LogChannel channel(log);

  ASSERT_TRUE(channel.send(full_notice(), {}));

  ASSERT_EQ(log.lines().size(), 1U);
  const std::string line = log.lines()[0];
  EXPECT_THAT(line, testing::StartsWith(
                        "error notification notice_event=max_retry_reached severity=error"));
  EXPECT_THAT(line, HasSubstr("notice=ntc_01J"));
  EXPECT_THAT(line, HasSubstr("more=412"));
  EXPECT_THAT(line, HasSubstr("shard=7"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(channel.name(), "log");
}

TEST(LogChannel, ReachesNobodyAsItComes) {
  MemoryLog log;
  EXPECT_FALSE(LogChannel(log).reaches_people());
}

}  // namespace
}  // namespace recourse::notify
