// Where messages come from and how, checked once at the door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse::message {

enum class BrokerKind : std::uint8_t { kRabbitmq, kKafka, kRedis };

std::string_view to_string(BrokerKind kind);

enum class QueueType : std::uint8_t { kClassic, kQuorum };

struct RabbitmqSettings {
  // Declares the queue, durable, where it is missing. Off: a missing queue is an error, because a
  // typo would otherwise make an empty one.
  bool declare = false;
  QueueType queue_type = QueueType::kQuorum;
};

enum class OffsetStart : std::uint8_t { kEarliest, kLatest };

struct KafkaSettings {
  // Where a group begins that has no offset yet. The latest would lose what came before its first
  // start.
  OffsetStart start = OffsetStart::kEarliest;
  // How a user of the URL is told apart: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
  std::string sasl_mechanism = "PLAIN";
};

struct RedisSettings {
  // An entry that its consumer has neither acknowledged nor touched for so long is taken from it. A
  // living consumer touches what it has, so this bounds only how long a dead one's entries wait.
  Duration claim_after = std::chrono::seconds(60);
  // The field of an entry that is the body; the others are headers.
  std::string body_field = "body";
};

struct SourceSettings {
  // Of the source, in records, log lines and messages.
  std::string name = {};
  // amqp://, amqps://, kafka:// or redis://user:password@host:port/...; a secret: never shown.
  std::string url = {};
  // The queue, topic or stream.
  std::string topic = {};
  // Consumers of one group share a topic's messages; every group gets all of them. On RabbitMQ a
  // group is a queue, and this is only its name in records.
  std::string group = {};
  // Of this process within its group; empty: made up. Redis keeps entries under it.
  std::string consumer = {};
  // The most messages that are out.
  std::size_t prefetch = 100;
  // After how long of silence the broker takes this process for dead, and this process the broker.
  Duration heartbeat = std::chrono::seconds(30);
  // The pause before connecting again: doubles from the one to the other, with jitter.
  Duration reconnect_min = std::chrono::milliseconds(100);
  Duration reconnect_max = std::chrono::seconds(30);
  // For amqps: whom to trust instead of the system's authorities, a PEM file.
  std::string tls_ca = {};

  RabbitmqSettings rabbitmq = {};
  KafkaSettings kafka = {};
  RedisSettings redis = {};
};

Result<> validate(const SourceSettings& settings);

// By the scheme of its URL. kInvalid with the forms there are.
Result<BrokerKind> broker_of(const SourceSettings& settings);

}  // namespace recourse::message
