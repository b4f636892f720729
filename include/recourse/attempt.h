// What a handler sees of the task it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "recourse/codec.h"
#include "recourse/outcome.h"
#include "recourse/time.h"

namespace recourse {

namespace detail {
class AttemptAccess;
}

class Attempt {
 public:
  // The task's id, the same in every attempt: the key by which a downstream recognises a repeat.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] const std::string& kind() const;
  [[nodiscard]] const std::string& tenant() const;
  [[nodiscard]] const std::string& payload() const;
  [[nodiscard]] const std::map<std::string, std::string>& headers() const;
  [[nodiscard]] const std::string& trace_parent() const;
  // 1, 2, 3, ... over the task's whole life.
  [[nodiscard]] int number() const;
  // Retries used, and allowed.
  [[nodiscard]] int retries() const;
  [[nodiscard]] int max_retries() const;
  // Grows with every owner: a downstream that keeps the largest can refuse a late one.
  [[nodiscard]] std::int64_t fence() const;
  // Why the attempt before failed; empty at the first.
  [[nodiscard]] std::string last_error() const;
  // Set when its time is up, a person cancels it, or the node is about to end. What it answers
  // after its time is up is discarded.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const { return stop_token().stop_requested(); }

  // For people who watch: see Engine::notes. Callable from any thread; they never wait and never
  // throw for bad input. Text is cut at 1,000 characters and made valid UTF-8, a fraction is kept
  // within 0 and 1. Where a handler writes faster than the store takes, the newest are kept.
  void note(std::string_view text) const;
  void progress(double fraction, std::string_view text = {}) const;

 private:
  friend class detail::AttemptAccess;
  struct Impl;
  explicit Attempt(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

// Answers an asynchronous attempt, once, from any thread. Dropping it without an answer is a
// failure.
class Completion {
 public:
  [[nodiscard]] const Attempt& attempt() const { return attempt_; }
  // Later answers are ignored.
  void complete(const Outcome& outcome) const;

 private:
  friend class detail::AttemptAccess;
  explicit Completion(Attempt attempt) : attempt_(std::move(attempt)) {}
  Attempt attempt_;
};

// Throws what it likes: std::runtime_error and below retry, std::logic_error and what is no
// std::exception come before a person.
using Handler = std::function<Outcome(const Attempt&)>;
using AsyncHandler = std::function<void(Completion)>;
// From a handler of decoded payloads, `handler(const Attempt&, const T&)`.
template <class T, class F>
Handler typed_handler(F handler) {
  return [handler = std::move(handler)](const Attempt& attempt) mutable -> Outcome {
    Result<T> payload = decode_payload<T>(attempt.payload());
    if (!payload) return dead_letter(payload.error().message, "SERDE_ERROR");
    return handler(attempt, *payload);
  };
}
// "Is it already done?" Asked after a time-out or a takeover, before the handler runs again.
// Answers a bool, or done() with what follows; anything else means no.
using Probe = std::function<Outcome(const Attempt&)>;
// Wraps every handler: calls `next` and may look at, change or replace what it answers.
using Middleware = std::function<Outcome(const Attempt&, const std::function<Outcome()>& next)>;

}  // namespace recourse
