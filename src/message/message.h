// A message as every broker's adapter hands it over, and as it takes one to publish.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong.h"
#include "base/time.h"

namespace recourse::message {

// One delivery of one message by one source; unique while that source lives.
using Ticket = Strong<struct TicketTag, std::uint64_t>;

struct Header {
  std::string name;
  std::string value;  // bytes

  friend bool operator==(const Header&, const Header&) = default;
};

// Where a message's id comes from. Only the first is the same for a message that was published
// twice.
enum class IdOrigin : std::uint8_t {
  kPublisher,  // the publisher gave it
  kPosition,   // the broker's own: topic-partition-offset, entry id
  kBodyHash,   // neither: two equal bodies are one message, which deserves a warning
};

struct Message {
  Ticket ticket{0};
  std::string source = {};  // the settings' name
  std::string topic = {};   // queue, topic or stream
  // What its publisher marked it with: the header `tags`, or RabbitMQ's routing key where that is
  // not the queue's name. Empty where there is none.
  std::string tags = {};
  // Messages with one key are in order. Kafka's own, elsewhere the header `key`; empty: none.
  std::string key = {};
  std::string id = {};
  IdOrigin id_origin = IdOrigin::kPublisher;
  std::vector<Header> headers = {};
  std::string body = {};  // bytes as they came
  // Why there is no body, where the broker's entry has none that we know of: for a person.
  std::string unreadable = {};
  // The broker believes that it was delivered before; not every broker knows.
  bool redelivered = false;
  // When it was published, where the broker or the publisher says so.
  std::optional<TimePoint> published_at = std::nullopt;
};

struct Outgoing {
  std::string topic = {};
  std::string key = {};
  std::string id = {};  // given again when it comes back; empty: none
  std::vector<Header> headers = {};
  std::string body = {};
};

// Carries a publisher's id on brokers that have no place for one.
inline constexpr std::string_view kIdHeader = "recourse-message-id";
inline constexpr std::string_view kKeyHeader = "key";
inline constexpr std::string_view kTagsHeader = "tags";

// Empty where there is none.
std::string header_of(const Message& message, std::string_view name);

// For a message without any id: a hash of its body, the same on every machine.
std::string body_hash_id(std::string_view body);

}  // namespace recourse::message
