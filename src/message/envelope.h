// A message as a task: the body is the payload, what people find it by are search keys, and
// headers carry the rest, so that it can be read back and published again. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "message/key.h"
#include "message/message.h"
#include "task/record.h"

namespace recourse::message {

// Names of search keys.
inline constexpr std::string_view kMessageIdKey = "message_id";
inline constexpr std::string_view kBusinessIdKey = "business_id";
inline constexpr std::string_view kTopicKey = "topic";
inline constexpr std::string_view kGroupKey = "group";
inline constexpr std::string_view kSourceKey = "source";
// Of sources that keep the order within a key: source, group, topic and the message's key in one.
inline constexpr std::string_view kOrderKey = "message_order";

// All but the body.
struct Envelope {
  std::string source = {};
  std::string group = {};
  std::string topic = {};
  std::string tags = {};
  std::string key = {};
  std::string id = {};
  IdOrigin id_origin = IdOrigin::kPublisher;
  // The business's own id of what it is about; empty where nobody has said it.
  std::string business_id = {};
  // The publisher's own, as far as there was room; once recorded in the order of their names.
  std::vector<Header> headers = {};
  std::optional<TimePoint> published_at = std::nullopt;

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

inline Scope scope_of(const Envelope& envelope) {
  return {.source = envelope.source, .group = envelope.group, .topic = envelope.topic};
}

// How messages of one source are handled.
struct Handling {
  task::Kind kind = {};
  task::Tenant tenant = {};
  int max_retries = 5;
  // Of each attempt.
  Duration timeout = std::chrono::seconds(10);
  // Messages of one key wait behind one that failed.
  bool ordered = false;
  // How long it is remembered that a message was done.
  Duration keep_done_for = std::chrono::hours(24 * 7);
};

Result<> validate(const Handling& handling);

Envelope envelope_of(const Message& message, std::string_view group);
// What stands under a search key: the value itself where it is plain text of at most 255 bytes,
// otherwise percent-encoded, and cut before a hash. Whoever looks for a value asks for this.
std::string search_text(std::string_view value);
// kInvalid by field name: no id, one that is too long, a body over the limit, ... Bytes that are no
// text are encoded; a key over 1,024 bytes, tags over 255, and headers beyond what a task holds are
// left out. Its backoff is the kind's own.
Result<task::TaskSpec> spec_of(const Envelope& envelope, std::string body,
                               const Handling& handling);
// As it was recorded; empty where the task is no message's.
std::optional<Envelope> envelope_of(const task::TaskSpec& spec);
// What makes the order of a key; empty where the message has none.
std::string order_key_of(const Envelope& envelope);

}  // namespace recourse::message
