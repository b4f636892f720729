#include "message/replay.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include "engine/core/event.h"
#include "message/key.h"
#include "message/log_lines.h"
#include "policy/decision.h"
#include "task/record.h"

namespace recourse::message {
namespace {

constexpr Duration kStorePatience = std::chrono::seconds(2);

// The broker's or the store's trouble, not the message's: it uses up no retry.
engine::AttemptResult again(Duration pause, std::string_view code, const Error& why) {
  policy::Decision decision =
      policy::retry(policy::Category::kIo, std::string(code), "not published: " + why.message);
  decision.snooze = pause;
  decision.uses_retry = false;
  return engine::Decided{.decision = std::move(decision), .attempted = false};
}

engine::AttemptResult replayed(const task::Task& task) {
  std::string why = "published again to its topic";
  if (task.last_error) why += "; it had failed: " + task.last_error->message;
  policy::Decision decision =
      policy::dead_letter(policy::Category::kBizRetryable, std::string(kReplayed), std::move(why));
  decision.outcome = policy::Outcome::kCancelled;
  return engine::Decided{std::move(decision)};
}

enum class Copy : std::uint8_t {
  kNone,      // none was dealt with yet
  kDealtWith  // whoever consumed it has it
};

// The mark of a message that is about to be published is forgotten, or its consumer would skip it;
// but only this task's own: one that stands for another is the mark of a copy that an earlier run
// has published, without hearing of it.
Result<Copy> make_way(const task::Task& task, const store::MessageKey& key, store::Inbox& inbox) {
  const std::vector keys{key};
  const auto seen = inbox.look_up(keys, kStorePatience);
  if (!seen) return fail(seen.error());
  const std::optional<store::Seen>& mark = seen->front();
  if (!mark) return Copy::kNone;
  if (mark->task != task.id) return Copy::kDealtWith;
  const auto forgotten = inbox.forget(keys, kStorePatience);
  if (!forgotten) return fail(forgotten.error());
  return Copy::kNone;
}

engine::AttemptResult publish_again(const task::Task& task, const ReplayParts& parts) {
  const std::optional<Envelope> envelope = envelope_of(task.spec);
  if (!envelope) {
    return engine::Decided{policy::dead_letter(policy::Category::kUnknown, "NO_MESSAGE",
                                               "the task is no message: it cannot be published")};
  }
  const auto copy = make_way(task, key_of(scope_of(*envelope), envelope->id), parts.inbox);
  if (!copy) return again(parts.pause, "STORE_UNAVAILABLE", copy.error());
  if (*copy == Copy::kDealtWith) return replayed(task);
  const Result<> published = parts.publish(outgoing_of(*envelope, task.spec.payload, task.retries));
  if (!published) return again(parts.pause, "BROKER_UNAVAILABLE", published.error());
  log_replayed(parts.log, task);
  return replayed(task);
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
