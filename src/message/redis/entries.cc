#include "message/redis/entries.h"

#include <algorithm>
#include <charconv>

namespace recourse::message::redis {
namespace {

// An id is the millisecond in which Redis took the entry, a dash, and a number.
std::optional<TimePoint> time_of(const std::string& id) {
  std::int64_t milliseconds = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), milliseconds);
  // Publishers may choose ids of their own, which need not be times.
  if (error != std::errc{} || milliseconds <= 0 || milliseconds > 253'402'300'800'000)
    return std::nullopt;
  return TimePoint(std::chrono::milliseconds(milliseconds));
}

// An empty body instead would be taken for an empty message, and lost with the first success.
std::string no_body(const Message& message, const SourceSettings& settings) {
  constexpr std::size_t kNamed = 5;
  std::string there;
  for (std::size_t i = 0; i < std::min(kNamed, message.headers.size()); ++i) {
    there += (i == 0 ? "" : ", ") + message.headers[i].name;
  }
  return "the entry has no field " + settings.redis.body_field + "; it has: " + there +
         "; see redis.body-field";
}

Message message_of(const std::string& id, const redisReply& fields,
                   const SourceSettings& settings) {
  Message message;
  message.topic = settings.topic;
  bool has_body = false;
  for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
    std::string name = text(*fields.element[i]);
    std::string value = text(*fields.element[i + 1]);
    if (name == settings.redis.body_field) {
      message.body = std::move(value);
      has_body = true;
    } else if (name == kIdHeader) {
      message.id = std::move(value);
    } else {
      message.headers.push_back({std::move(name), std::move(value)});
    }
  }
  if (!has_body) message.unreadable = no_body(message, settings);
  message.key = header_of(message, kKeyHeader);
  message.tags = header_of(message, kTagsHeader);
  message.published_at = time_of(id);
  if (!message.id.empty()) return message;
  message.id = id;
  message.id_origin = IdOrigin::kPosition;
  return message;
}

}  // namespace

std::vector<Entry> entries_of(const redisReply& array, const SourceSettings& settings) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < array.elements; ++i) {
    const redisReply& entry = *array.element[i];
    if (!is_array(entry, 2) || !is_array(*entry.element[1])) continue;
    std::string id = text(*entry.element[0]);
    Message message = message_of(id, *entry.element[1], settings);
    entries.push_back({std::move(id), std::move(message)});
  }
  return entries;
}

std::vector<Entry> entries_read(const redisReply& reply, const SourceSettings& settings) {
  if (!is_array(reply, 1) || !is_array(*reply.element[0], 2)) return {};
  return entries_of(*reply.element[0]->element[1], settings);
}

Command append_command(const Outgoing& message, const std::string& body_field) {
  Command command{"XADD", message.topic, "*", body_field, message.body};
  const auto add = [&](std::string_view name, const std::string& value) {
    command.emplace_back(name);
    command.push_back(value);
  };
  if (!message.id.empty()) add(kIdHeader, message.id);
  if (!message.key.empty()) add(kKeyHeader, message.key);
  for (const Header& header : message.headers) add(header.name, header.value);
  return command;
}

}  // namespace recourse::message::redis
