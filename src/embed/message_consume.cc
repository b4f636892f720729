// The message door for consumers of a program's own.
#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "embed/messages_impl.h"

namespace recourse {
namespace {

message::Message message_of(const IncomingMessage& incoming) {
  message::Message message{.source = incoming.source,
                           .topic = incoming.topic,
                           .tags = incoming.tags,
                           .key = incoming.key,
                           .id = incoming.id,
                           .headers = {},
                           .body = incoming.body,
                           .published_at = incoming.published_at};
  for (const MessageHeader& header : incoming.headers) {
    message.headers.push_back({header.name, header.value});
  }
  if (message.id.empty()) {
    message.id = message::body_hash_id(message.body);
    message.id_origin = message::IdOrigin::kBodyHash;
  }
  return message;
}

MessageFate fate_of(message::Ending ending) {
  switch (ending) {
    case message::Ending::kProcessed: return MessageFate::kProcessed;
    case message::Ending::kSkipped: return MessageFate::kSkipped;
    case message::Ending::kRecorded: return MessageFate::kRecorded;
  }
  std::abort();
}

Result<Consumed> consumed_of(Result<message::Consumption> answer) {
  if (!answer) return fail(std::move(answer).error());
  return Consumed{.fate = fate_of(answer->how),
                  .business_id = std::move(answer->business_id),
                  .record = answer->record ? task::to_string(*answer->record) : "",
                  .status = static_cast<MessageStatus>(message::number_of(answer->status)),
                  .error = std::move(answer->error)};
}

}  // namespace

Result<message::Consumer*> Messages::Impl::consumer_of(std::string_view name, bool needs_handler) {
  if (!engine.started) {
    return fail(ErrorCode::kUnavailable, "the engine has not started: nothing can be consumed");
  }
  embed::MessageGroup* group = door.find(name);
  if (group == nullptr) {
    return fail(ErrorCode::kInvalid,
                fmt::format("there is no message group {}: give it to handle or know before the "
                            "engine starts",
                            shown(name)));
  }
  if (needs_handler && !group->consumer->handles()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("message group {} has no handler in this process: give one to consume",
                            shown(name)));
  }
  return group->consumer.get();
}

Result<Consumed> Messages::consume(const IncomingMessage& message, std::string_view group) {
  return std::move(consume_all(std::span(&message, 1), group).front());
}

Result<Consumed> Messages::consume(const IncomingMessage& message, std::string_view group,
                                   const MessageHandler& handler) {
  if (!handler) return fail(ErrorCode::kInvalid, "the handler is empty");
  const auto consumer = impl_->consumer_of(group, false);
  if (!consumer) return fail(consumer.error());
  const message::Message one = message_of(message);
  auto answers = (*consumer)->consume(std::span(&one, 1), {}, Impl::run_of(handler));
  return consumed_of(std::move(answers.front()));
}

std::vector<Result<Consumed>> Messages::consume_all(std::span<const IncomingMessage> batch,
                                                    std::string_view group) {
  std::vector<Result<Consumed>> all;
  const auto consumer = impl_->consumer_of(group, true);
  if (!consumer) {
    for (std::size_t i = 0; i < batch.size(); ++i) all.emplace_back(fail(consumer.error()));
    return all;
  }
  std::vector<message::Message> messages;
  messages.reserve(batch.size());
  for (const IncomingMessage& one : batch) messages.push_back(message_of(one));
  for (auto& answer : (*consumer)->consume(messages, {})) {
    all.push_back(consumed_of(std::move(answer)));
  }
  return all;
}

}  // namespace recourse
