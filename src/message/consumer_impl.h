// What a Consumer holds.
#pragma once

#include <atomic>
#include <chrono>

#include "base/mutex.h"
#include "base/rng.h"
#include "message/consumer.h"
#include "message/in_flight.h"
#include "message/key.h"
#include "message/refusals.h"

namespace recourse::message {

// A run that the handler ended well, but whose transaction did not commit. It is retried.
FailedRun not_committed(const Error& error, const Ran& ran, const std::string& about);

struct Consumer::Impl {
  Impl(ConsumerSettings given, ConsumerParts with, const Run& handler, const Run& retried);

  [[nodiscard]] Scope scope_of(const Message& message) const;
  [[nodiscard]] store::MessageKey key_of(const Message& message) const;
  // What a feeder is to do.
  Dealing dealing_of(const Message& message, const Result<Consumption>& answer);
  // As it is marked; with a task of that id where the handler failed, or it has to wait.
  Result<store::Dealt> dealt_of(const Message& message, const store::MessageKey& key,
                                const Ran& ran, task::TaskId id);
  // Runs it inside of a transaction that marks the key.
  Result<> run_marking(const Run& handler, Call& call, const store::MessageKey& key,
                       Ran& ran) const;
  // A retry; empty: it is done.
  std::optional<FailedRun> retry_plainly(Call& call) const;
  std::optional<FailedRun> retry_marking(Call& call) const;
  // Forgets marks whose time is over, now and then.
  void sweep();

  const ConsumerSettings settings;
  const ConsumerParts parts;
  const Run run;
  const Run retry;
  InFlight in_flight;
  // Told of, by whoever consumes; counted, by feeders.
  Refusals refusals_told;
  Refusals refusals_counted;
  Mutex rng_mutex;
  Rng rng GUARDED_BY(rng_mutex);
  std::atomic<std::chrono::steady_clock::rep> next_sweep = 0;
  std::atomic<bool> has_warned = false;
};

}  // namespace recourse::message
