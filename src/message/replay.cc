#include "message/replay.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include "engine/core/event.h"
#include "message/key.h"
#include "policy/decision.h"
#include "task/record.h"

namespace recourse::message {
namespace {

constexpr Duration kForgetPatience = std::chrono::seconds(5);

// The broker's or the store's trouble, not the message's.
engine::AttemptResult again(std::string_view code, const Error& why) {
  return engine::Decided{
      policy::retry(policy::Category::kIo, std::string(code), "not published: " + why.message)};
}

engine::AttemptResult publish_again(const task::Task& task, const ReplayParts& parts) {
  const std::optional<Envelope> envelope = envelope_of(task.spec);
  if (!envelope) {
    return engine::Decided{policy::dead_letter(policy::Category::kUnknown, "NO_MESSAGE",
                                               "the task is no message: it cannot be published")};
  }
  const std::vector key{key_of(scope_of(*envelope), envelope->id)};
  if (const auto forgotten = parts.inbox.forget(key, kForgetPatience); !forgotten) {
    return again("STORE_UNAVAILABLE", forgotten.error());
  }
  const Result<> published = parts.publish(outgoing_of(*envelope, task.spec.payload, task.retries));
  if (!published) return again("BROKER_UNAVAILABLE", published.error());
  parts.log.info("message_replayed", {{"message", envelope->id},
                                      {"topic", envelope->topic},
                                      {"task", task::to_string(task.id)},
                                      {"retries", std::to_string(task.retries)}});
  return engine::Succeeded{};
}

}  // namespace

int replays_of(const std::vector<Header>& headers) {
  for (const Header& header : headers) {
    if (header.name != kReplayHeader) continue;
    int number = 0;
    const char* const end = header.value.data() + header.value.size();
    const auto [rest, error] = std::from_chars(header.value.data(), end, number);
    const bool is_number = error == std::errc() && rest == end;
    return is_number ? std::clamp(number, 0, task::kRetriesMax) : 0;
  }
  return 0;
}

Outgoing outgoing_of(const Envelope& envelope, std::string body, int retries) {
  Outgoing message{.topic = envelope.topic,
                   .key = envelope.key,
                   .id = envelope.id,
                   .headers = envelope.headers,
                   .body = std::move(body)};
  // The adapters write these themselves, from what stands beside the headers.
  std::erase_if(message.headers, [](const Header& header) {
    return header.name == kReplayHeader || header.name == kIdHeader || header.name == kKeyHeader;
  });
  const bool tells_tags = std::ranges::any_of(
      message.headers, [](const Header& header) { return header.name == kTagsHeader; });
  if (!envelope.tags.empty() && !tells_tags) {
    message.headers.push_back({std::string(kTagsHeader), envelope.tags});
  }
  message.headers.push_back({std::string(kReplayHeader), std::to_string(retries)});
  return message;
}

engine::Handler replay_retries(engine::Handler handler, const ReplayParts& parts) {
  return [handler = std::move(handler), parts](const std::shared_ptr<engine::AttemptRun>& run) {
    const task::Task& task = run->task();
    if (task.attempts == 0) {
      handler(run);
    } else {
      run->complete(publish_again(task, parts));
    }
  };
}

}  // namespace recourse::message
