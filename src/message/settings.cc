#include "message/settings.h"

#include <cstdlib>

#include "base/field_checks.h"
#include "base/text.h"
#include "message/address.h"

namespace recourse::message {
namespace {

constexpr std::size_t kNameMax = 100;

bool is_sasl_mechanism(std::string_view text) {
  return text == "PLAIN" || text == "SCRAM-SHA-256" || text == "SCRAM-SHA-512";
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameMax && is_plain_text(text);
}

}  // namespace

std::string_view to_string(BrokerKind kind) {
  switch (kind) {
    case BrokerKind::kRabbitmq: return "RabbitMQ";
    case BrokerKind::kKafka: return "Kafka";
    case BrokerKind::kRedis: return "Redis";
  }
  std::abort();
}

Result<BrokerKind> broker_of(const SourceSettings& settings) {
  Result<Address> address = parse_address(settings.url);
  if (!address) return fail(std::move(address).error());
  return address->broker;
}

Result<> validate(const SourceSettings& settings) {
  using namespace std::chrono_literals;
  constexpr std::string_view kMustBeName =
      "must be 1 to 100 bytes of text without control characters";
  FieldChecks checks("source");
  checks.require(is_name(settings.name), "name", kMustBeName)
      .require(is_name(settings.topic), "topic", kMustBeName)
      .require(is_name(settings.group), "group", kMustBeName)
      .require(settings.consumer.empty() || is_name(settings.consumer), "consumer", kMustBeName)
      .between<std::size_t>("prefetch", settings.prefetch, 1, 10'000)
      .between<Duration>("heartbeat", settings.heartbeat, 1s, 10min)
      .between<Duration>("reconnect_min", settings.reconnect_min, 1ms, 1min)
      .between<Duration>("reconnect_max", settings.reconnect_max, settings.reconnect_min, 1h)
      .between<Duration>("redis.claim_after", settings.redis.claim_after, 100ms, 24h)
      .require(is_sasl_mechanism(settings.kafka.sasl_mechanism), "kafka.sasl_mechanism",
               "must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
      .require(is_name(settings.redis.body_field), "redis.body_field", kMustBeName);
  if (const Result<Address> address = parse_address(settings.url); !address) {
    checks.require(false, "url", address.error().message);
  }
  return checks.result();
}

}  // namespace recourse::message
