#include "message/rabbitmq/properties.h"

#include <optional>

namespace recourse::message::rabbitmq {
namespace {

constexpr std::uint8_t kPersistent = 2;

// Tables and arrays, which brokers add for their own use, are left out.
std::optional<std::string> text_of(const amqp_field_value_t& value) {
  switch (value.kind) {
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES: return text(value.value.bytes);
    case AMQP_FIELD_KIND_BOOLEAN: return value.value.boolean != 0 ? "true" : "false";
    case AMQP_FIELD_KIND_I8: return std::to_string(value.value.i8);
    case AMQP_FIELD_KIND_U8: return std::to_string(value.value.u8);
    case AMQP_FIELD_KIND_I16: return std::to_string(value.value.i16);
    case AMQP_FIELD_KIND_U16: return std::to_string(value.value.u16);
    case AMQP_FIELD_KIND_I32: return std::to_string(value.value.i32);
    case AMQP_FIELD_KIND_U32: return std::to_string(value.value.u32);
    case AMQP_FIELD_KIND_I64: return std::to_string(value.value.i64);
    case AMQP_FIELD_KIND_U64:
    case AMQP_FIELD_KIND_TIMESTAMP: return std::to_string(value.value.u64);
    default: return std::nullopt;
  }
}

bool has(const amqp_basic_properties_t& properties, amqp_flags_t flag) {
  return (properties._flags & flag) != 0;
}

void read_headers(const amqp_basic_properties_t& properties, Message& message) {
  if (!has(properties, AMQP_BASIC_HEADERS_FLAG)) return;
  for (int i = 0; i < properties.headers.num_entries; ++i) {
    const amqp_table_entry_t& entry = properties.headers.entries[i];
    if (auto value = text_of(entry.value))
      message.headers.push_back({text(entry.key), *std::move(value)});
  }
}

void read_id(const amqp_basic_properties_t& properties, Message& message) {
  if (has(properties, AMQP_BASIC_MESSAGE_ID_FLAG)) message.id = text(properties.message_id);
  if (!message.id.empty()) return;
  message.id = body_hash_id(message.body);
  message.id_origin = IdOrigin::kBodyHash;
}

}  // namespace

Message message_of(const amqp_envelope_t& envelope, const std::string& queue) {
  const amqp_basic_properties_t& properties = envelope.message.properties;
  Message message;
  message.topic = queue;
  message.body = text(envelope.message.body);
  message.redelivered = envelope.redelivered != 0;
  read_headers(properties, message);
  read_id(properties, message);
  message.key = header_of(message, kKeyHeader);
  message.tags = header_of(message, kTagsHeader);
  if (message.tags.empty()) {
    std::string routing_key = text(envelope.routing_key);
    if (routing_key != queue) message.tags = std::move(routing_key);
  }
  if (has(properties, AMQP_BASIC_TIMESTAMP_FLAG)) {
    message.published_at = TimePoint(std::chrono::seconds(properties.timestamp));
  }
  return message;
}

PublishedProperties::PublishedProperties(const Outgoing& message) {
  for (const Header& header : message.headers) add(header.name, header.value);
  if (!message.key.empty()) add(kKeyHeader, message.key);
  properties_.headers = {static_cast<int>(headers_.size()), headers_.data()};
  properties_.delivery_mode = kPersistent;
  properties_.timestamp = static_cast<std::uint64_t>(
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  properties_._flags =
      AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_TIMESTAMP_FLAG;
  if (message.id.empty()) return;
  properties_.message_id = bytes(message.id);
  properties_._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
}

void PublishedProperties::add(std::string_view name, std::string_view value) {
  amqp_table_entry_t entry{};
  entry.key = bytes(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = bytes(value);
  headers_.push_back(entry);
}

}  // namespace recourse::message::rabbitmq
