#include "message/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::message {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MessageSettings, ADefaultWithNamesIsGood) {
  EXPECT_TRUE(validate(SourceSettings{
      .name = "shop", .url = "redis://localhost:6379/0", .topic = "orders", .group = "billing"}));
}

TEST(MessageSettings, EveryBadFieldIsNamedAtOnceAndThePasswordIsNotShown) {
  SourceSettings settings{
      .name = "", .url = "amqp:/joe:hidden@x", .topic = std::string(101, 't'), .group = "a\nb"};
  settings.prefetch = 0;
  settings.heartbeat = Duration::zero();
  settings.reconnect_min = std::chrono::seconds(2);
  settings.reconnect_max = std::chrono::seconds(1);
  settings.kafka.sasl_mechanism = "MAGIC";
  settings.redis.claim_after = Duration::zero();

  const std::string complaint = validate(settings).error().message;

  for (const char* field : {"source.name", "source.url", "source.topic", "source.group",
                            "source.prefetch", "source.heartbeat", "source.reconnect_max",
                            "source.kafka.sasl_mechanism", "source.redis.claim_after"}) {
    EXPECT_THAT(complaint, HasSubstr(field));
  }
  EXPECT_THAT(complaint, Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace recourse::message
