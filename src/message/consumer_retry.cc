// A consumer's messages on the engine's threads.
#include <utility>

#include "message/consumer_impl.h"
#include "message/key.h"
#include "message/records.h"

namespace recourse::message {
namespace {

policy::Decision no_message() {
  return policy::dead_letter(
      policy::Category::kUnknown, "NO_MESSAGE",
      "this task is no message's: only the message door makes tasks of this kind");
}

Message message_of(Envelope envelope, std::string body) {
  return {.source = std::move(envelope.source),
          .topic = std::move(envelope.topic),
          .tags = std::move(envelope.tags),
          .key = std::move(envelope.key),
          .id = std::move(envelope.id),
          .id_origin = envelope.id_origin,
          .headers = std::move(envelope.headers),
          .body = std::move(body),
          .published_at = envelope.published_at};
}

FailedRun store_failed(const Error& error, std::string code, std::string about) {
  return failed_run(
      std::make_exception_ptr(MessageFailure(
          error.message, {.type = "store", .code = std::move(code), .retryable = true})),
      std::move(about));
}

}  // namespace

FailedRun not_committed(const Error& error, const Ran& ran, const std::string& about) {
  return store_failed(error, "STORE_COMMIT_FAILED",
                      ran.business_id.empty() ? about : ran.business_id);
}

void Consumer::retry(const std::shared_ptr<engine::AttemptRun>& run) {
  const task::Task& task = run->task();
  std::optional<Envelope> envelope = envelope_of(task.spec);
  if (!envelope) return run->complete(engine::Decided{no_message()});
  const Message message = message_of(*std::move(envelope), task.spec.payload);
  const store::MessageKey key = impl_->key_of(message);
  Call call{.message = message,
            .group = impl_->settings.group,
            .key = key,
            .attempt = run->start().number,
            .max_retries = task.spec.max_retries,
            .stop = run->stop_token()};
  std::optional<FailedRun> failed =
      impl_->settings.in_transaction ? impl_->retry_marking(call) : impl_->retry_plainly(call);
  if (!failed) return run->complete(engine::Succeeded{});
  run->note({.progress = std::nullopt, .text = to_note(failed->detail)});
  run->complete(engine::Failed{std::move(failed->failure)});
}

std::optional<FailedRun> Consumer::Impl::retry_plainly(Call& call) const {
  try {
    (void)retry(call);
    return std::nullopt;
  } catch (...) {
    return failed_run(std::current_exception(), std::move(call.about));
  }
}

// Its transaction may have committed when the reply was lost, or the process died: then its own
// mark is there.
std::optional<FailedRun> Consumer::Impl::retry_marking(Call& call) const {
  const store::MessageKey done = done_key_of(call.key);
  const auto is_done = [&]() -> Result<bool> {
    const auto seen = parts.opened.inbox().look_up(std::span(&done, 1), settings.patience);
    if (!seen) return fail(seen.error());
    return seen->front().has_value();
  };
  const Result<bool> before = is_done();
  if (!before) return store_failed(before.error(), "STORE_UNAVAILABLE", {});
  if (*before) return std::nullopt;
  Ran ran;
  const Result<> committed = run_marking(retry, call, done, ran);
  if (committed) return std::nullopt;
  // An earlier attempt's commit may have come through only after the first look: what this one
  // failed on is its own effect then.
  const Result<bool> after = is_done();
  if (after && *after) return std::nullopt;
  if (ran.failed) return std::move(ran.failed);
  if (!ran.was_called) return store_failed(committed.error(), "STORE_UNAVAILABLE", {});
  return not_committed(committed.error(), ran, call.about);
}

}  // namespace recourse::message
