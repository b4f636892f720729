#include "message/kafka/records.h"

#include <fmt/format.h>

namespace recourse::message::kafka {
namespace {

std::string text(const void* bytes, std::size_t length) {
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), length);
}

void read_headers(const rd_kafka_message_t& record, Message& message) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&record, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t length = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &length) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    if (name == kIdHeader) {
      message.id = text(value, length);
    } else {
      message.headers.push_back({name, text(value, length)});
    }
  }
}

}  // namespace

Message message_of(const rd_kafka_message_t& record) {
  Message message;
  message.topic = rd_kafka_topic_name(record.rkt);
  message.key = text(record.key, record.key_len);
  message.body = text(record.payload, record.len);
  read_headers(record, message);
  message.tags = header_of(message, kTagsHeader);
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t milliseconds = rd_kafka_message_timestamp(&record, &type);
  if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) {
    message.published_at = TimePoint(std::chrono::milliseconds(milliseconds));
  }
  if (!message.id.empty()) return message;
  message.id = fmt::format("{}-{}-{}", message.topic, record.partition, record.offset);
  message.id_origin = IdOrigin::kPosition;
  return message;
}

}  // namespace recourse::message::kafka
