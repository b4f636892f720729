#include "message/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::message {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MessageAddress, ReadsWhoWhereAndWhat) {
  const Address address = parse_address("amqps://joe:p%40ss@mq.example/orders").value();

  EXPECT_EQ(address.broker, BrokerKind::kRabbitmq);
  EXPECT_TRUE(address.tls);
  EXPECT_EQ(address.user, "joe");
  EXPECT_EQ(address.password, "p@ss");
  EXPECT_EQ(where(address), "mq.example:5671");
  EXPECT_EQ(address.path, "orders");
}

TEST(MessageAddress, ReadsAListOfKafkaBrokers) {
  EXPECT_EQ(where(parse_address("kafka://a:9092,b:9093,c").value()), "a:9092,b:9093,c:9092");
}

TEST(MessageAddress, RefusesRedissBecauseTheLibraryHasNoTls) {
  const auto refused = parse_address("rediss://:secret@host:6379/0");

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no TLS"));
}

TEST(MessageAddress, RefusesWithTheRightFormsAndWithoutThePassword) {
  for (const char* url :
       {"http://joe:secret@host", "amqp://joe:sec ret@host", "redis://:secret@host/orders",
        "amqp://joe:secret@host:99999/", "kafka://joe:secret@host/topic",
        "amqp://joe:secret@host/?x=1", "amqp://", "", "kafka://joe:secret@a,,b"}) {
    const auto refused = parse_address(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr("amqp://user:password@host:5672"));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("sec")));
  }
}

}  // namespace
}  // namespace recourse::message
