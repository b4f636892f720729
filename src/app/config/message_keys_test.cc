// The message door's keys, and what it means for a kind to be one of its.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/effective.h"
#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kBill = "kinds: {bill: {url: 'http://a/'}}\n";

// One source; `more` are further keys of it.
std::string with_source(const std::string& more, const std::string& url = "redis://localhost") {
  return std::string(kBill) + "messages: {sources: {orders: {url: '" + url +
         "', topic: orders, group: billing, kind: bill" + (more.empty() ? "" : ", " + more) + "}}}";
}

// MSG-6, MSG-10
TEST(MessageKeys, ASourceMakesItsKindAMessageKind) {
  const Config config = config_of(with_source(""));
  const SourceConfig& source = config.messages.sources.at("orders");
  EXPECT_EQ(source.settings.name, "orders");
  EXPECT_EQ(source.settings.topic, "orders");
  EXPECT_EQ(source.consumers, 1);
  EXPECT_EQ(source.order, MessageOrder::kOff);
  EXPECT_EQ(source.retry_by, RetryBy::kHandler);
  EXPECT_EQ(source.keep_done_for, 24h * 7);
  const KindConfig& kind = config.kinds.at("bill");
  EXPECT_TRUE(kind.message);
  EXPECT_EQ(kind.max_retries, 5);
  EXPECT_EQ(kind.settings.backoff.strategy, "message");
  EXPECT_EQ(kind.settings.backoff.base, 1s);
  const auto kept = [&](task::State state) {
    return store::expires_at(config.retention, task::Kind("bill"), state, TimePoint{});
  };
  EXPECT_EQ(kept(task::State::kSucceeded), TimePoint{} + 24h * 30);
  EXPECT_EQ(kept(task::State::kResolved), TimePoint{} + 24h * 30);
  EXPECT_EQ(kept(task::State::kIgnored), TimePoint{} + 24h * 90);
  EXPECT_EQ(kept(task::State::kCancelled), TimePoint{} + 24h * 90);
}

// For consumers that record over HTTP.
TEST(MessageKeys, AKindMaySaySoItself) {
  const Config config =
      config_of("kinds: {bill: {url: 'http://a/', message: true}, b: {type: worker}}");
  EXPECT_TRUE(config.kinds.at("bill").message);
  EXPECT_EQ(config.kinds.at("bill").settings.backoff.strategy, "message");
  EXPECT_FALSE(config.kinds.at("b").message);
  EXPECT_EQ(config.kinds.at("b").settings.backoff.strategy, "exponential");
}

TEST(MessageKeys, AKindsOwnWordStands) {
  const Config config = config_of(R"(
retry: {backoff: {base: 7s, max: 10s}, default-max-retry: 3}
messages: {keep-processed: 7d, keep-ignored: 8d}
kinds:
  own: {url: 'http://a/', message: true, max-retries: 9, backoff: {strategy: fixed, base: 5s}, retention: {succeeded: 1d}}
  preset: {url: 'http://a/', message: true}
)");
  const KindConfig& own = config.kinds.at("own");
  EXPECT_EQ(own.max_retries, 9);
  EXPECT_EQ(own.settings.backoff.strategy, "fixed");
  EXPECT_EQ(own.settings.backoff.base, 5s);
  EXPECT_EQ(own.retention.at(task::State::kSucceeded), 24h);
  EXPECT_EQ(own.retention.at(task::State::kResolved), 24h * 7);
  EXPECT_EQ(own.retention.at(task::State::kIgnored), 24h * 8);
  // What holds for other kinds would make these waits others than 1, 2, 4, 8, 16 s.
  const KindConfig& preset = config.kinds.at("preset");
  EXPECT_EQ(preset.max_retries, 5);
  EXPECT_EQ(preset.settings.backoff.base, 1s);
  EXPECT_EQ(preset.settings.backoff.max, 300s);
}

TEST(MessageKeys, EveryKeyArrives) {
  const Config config = config_of(std::string(kBill) + R"(
messages:
  sources:
    orders:
      url: env:BROKER
      topic: orders
      group: billing
      kind: bill
      tenant: shop
      prefetch: 20
      batch: 10
      consumers: 4
      format: json
      backlog-limit: 500
      keep-done-for: 1d
      heartbeat: 10s
      reconnect-max: 5s
      retry-by: publish
      tls-ca: ca.pem
      rabbitmq: {declare: true, queue-type: classic}
)",
                                  {{"BROKER", "amqps://joe:hidden@mq.example.com/shop"}});
  const SourceConfig& source = config.messages.sources.at("orders");
  EXPECT_EQ(source.url.reveal(), "amqps://joe:hidden@mq.example.com/shop");
  EXPECT_EQ(source.tenant, "shop");
  EXPECT_EQ(source.settings.prefetch, 20U);
  EXPECT_EQ(source.batch, 10U);
  EXPECT_EQ(source.consumers, 4);
  EXPECT_EQ(source.format, message::BodyFormat::kJson);
  EXPECT_EQ(source.backlog_limit, 500U);
  EXPECT_EQ(source.keep_done_for, 24h);
  EXPECT_EQ(source.settings.heartbeat, 10s);
  EXPECT_EQ(source.settings.reconnect_max, 5s);
  EXPECT_EQ(source.retry_by, RetryBy::kPublish);
  EXPECT_EQ(source.settings.tls_ca, "ca.pem");
  EXPECT_TRUE(source.settings.rabbitmq.declare);
  EXPECT_EQ(source.settings.rabbitmq.queue_type, message::QueueType::kClassic);
  // Nowhere is the password shown.
  EXPECT_THAT(to_text(settings_of(config, Which::kAll)), Not(HasSubstr("hidden")));
  EXPECT_THAT(to_text(settings_of(config, Which::kAll)), HasSubstr("env:BROKER"));
}

TEST(MessageKeys, OrderAndTheOtherBrokersKeysArrive) {
  const Config kafka =
      config_of(with_source("order: key, dead-head: skip, consumers: 3, kafka: {start: latest, "
                            "sasl-mechanism: scram-sha-512}",
                            "kafka://a:9092,b:9092"));
  const SourceConfig& source = kafka.messages.sources.at("orders");
  EXPECT_EQ(source.order, MessageOrder::kKey);
  EXPECT_EQ(source.dead_head, DeadHead::kSkip);
  EXPECT_EQ(source.settings.kafka.start, message::OffsetStart::kLatest);
  EXPECT_EQ(source.settings.kafka.sasl_mechanism, "SCRAM-SHA-512");
  const Config redis = config_of(with_source("redis: {claim-after: 5s, body-field: data}"));
  EXPECT_EQ(redis.messages.sources.at("orders").settings.redis.claim_after, 5s);
  EXPECT_EQ(redis.messages.sources.at("orders").settings.redis.body_field, "data");
}

TEST(MessageKeys, WhatCannotBeIsRefusedWithAWayOut) {
  const auto refused = [](const std::string& text, const std::string& why) {
    EXPECT_THAT(problems_of(text), Contains(HasSubstr(why))) << text;
  };
  refused(
      "kinds: {bill: {url: 'http://a/'}}\nmessages: {sources: {orders: {url: 'redis://a', "
      "topic: t, group: g, kind: bil}}}",
      "did you mean bill?");
  refused(with_source("", "http://a/"), "must begin with amqp://, kafka:// or redis://");
  refused(with_source("", "rediss://a/"), "rediss:// is not supported");
  refused(with_source("", "redis://joe:hidden@a/"), "has a password in it");
  refused(with_source("prefech: 3"), "prefetch");
  refused(with_source("prefetch: 0"), "prefetch");
  refused(with_source("batch: 501"), "batch");
  refused(with_source("consumers: 65"), "consumers");
  refused(with_source("format: xml"), "format");
  refused(with_source("order: key, consumers: 2"), "consumers must be 1 with order: key");
  refused("messages: {sources: {orders: {url: 'redis://a', topic: '', group: g, kind: k}}}",
          "messages.sources.orders.topic must be 1 to 100 bytes");
  refused("messages: {sources: {orders: {url: 'redis://a', topic: t, kind: k}}}",
          "messages.sources.orders.group");
  refused("messages: {keep-processed: 1s}", "messages.keep-processed");
  refused("kinds: {'a*': {url: 'http://a/', message: true}}", "whole name");
  refused("kinds: {a: {url: 'http://a/', message: true, degrade: true}}", "two kinds");
}

TEST(MessageKeys, AWorkersKindKeepsNoOrder) {
  const std::string worker =
      "kinds: {bill: {type: worker}}\nmessages: {sources: {orders: {url: 'redis://a', topic: t, "
      "group: g, kind: bill";
  EXPECT_THAT(problems_of(worker + "}}}"), IsEmpty());
  EXPECT_THAT(problems_of(worker + ", order: key}}}"), Contains(HasSubstr("type worker")));
  EXPECT_THAT(problems_of(worker + ", retry-by: publish}}}"), Contains(HasSubstr("type worker")));
}

TEST(MessageKeys, TwoSourcesDoNotShareAGroup) {
  const std::string other = "kind: bill, topic: orders, url: 'redis://localhost', group: ";
  EXPECT_THAT(problems_of(std::string(kBill) + "messages: {sources: {a: {" + other + "g}, b: {" +
                          other + "g}}}"),
              Contains(HasSubstr("as messages.sources.a")));
  EXPECT_THAT(problems_of(std::string(kBill) + "messages: {sources: {a: {" + other + "g}, b: {" +
                          other + "h}}}"),
              IsEmpty());
}

TEST(MessageKeys, OrderAndReplayAreRefusedTogether) {
  const Loaded loaded = load_text(with_source("order: key, retry-by: publish"));
  EXPECT_FALSE(loaded.config);
  EXPECT_THAT(texts_of(loaded),
              Contains(HasSubstr("retry-by: publish is not possible with order")));
}

TEST(MessageKeys, WhatAnotherBrokerWouldUseIsWarnedOf) {
  const Loaded loaded = load_text(with_source("rabbitmq: {declare: true}, dead-head: skip"));
  EXPECT_TRUE(loaded.config);
  EXPECT_THAT(texts_of(loaded), Contains(HasSubstr("rabbitmq.declare is not used")));
  EXPECT_THAT(texts_of(loaded), Contains(HasSubstr("dead-head is not used")));
}

}  // namespace
}  // namespace recourse::app
