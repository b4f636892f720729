#include "message/consumer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "message/consumer_impl.h"
#include "message/consumer_round.h"
#include "message/first_attempt.h"
#include "message/key.h"
#include "message/records.h"
#include "message/replay.h"
#include "store/limits.h"

namespace recourse::message {
namespace {

using Steady = std::chrono::steady_clock;

// On SQLite everybody waits for a transaction that a handler shares.
constexpr Duration kTransactionMax = std::chrono::seconds(10);
constexpr Duration kSweepEvery = std::chrono::seconds(60);
// A batch waits for it.
constexpr Duration kSweepBudget = std::chrono::milliseconds(200);
constexpr std::size_t kSweptAtOnce = store::kPageRowsMax;

}  // namespace

Consumer::Impl::Impl(ConsumerSettings given, ConsumerParts with, const Run& handler,
                     const Run& retried)
    : settings(std::move(given)),
      parts(std::move(with)),
      run(handler),
      retry(retried ? retried : handler),
      rng(static_cast<std::uint64_t>(Steady::now().time_since_epoch().count())) {}

Consumer::Consumer(ConsumerSettings settings, ConsumerParts parts, const Run& run, const Run& retry)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(parts), run, retry)) {}
Consumer::~Consumer() = default;

std::vector<Result<Consumption>> Consumer::consume(std::span<const Message> batch,
                                                   const std::stop_token& stop,
                                                   const Run& instead) {
  const Run& run = instead ? instead : impl_->run;
  std::set<std::string> stuck;
  if (batch.size() <= store::kBatchRowsMax) return Round(*impl_, batch, run, stop, stuck).go();
  std::vector<Result<Consumption>> all;
  all.reserve(batch.size());
  while (!batch.empty()) {
    const std::size_t some = std::min(batch.size(), store::kBatchRowsMax);
    Round::Answers answers = Round(*impl_, batch.first(some), run, stop, stuck).go();
    std::ranges::move(answers, std::back_inserter(all));
    batch = batch.subspan(some);
  }
  return all;
}

bool Consumer::handles() const { return impl_->run != nullptr; }

Deal Consumer::deal() {
  return [this](std::span<const Message> batch,
                const std::stop_token& stop) -> Result<std::vector<Dealing>> {
    const auto answers = consume(batch, stop);
    std::vector<Dealing> dealings;
    dealings.reserve(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      dealings.push_back(impl_->dealing_of(batch[i], answers[i]));
    }
    // Nothing at all: the feeder waits before it tries again.
    const bool is_hopeless = !answers.empty() && std::ranges::all_of(answers, [](const auto& one) {
      return !one && one.error().code != ErrorCode::kInvalid &&
             one.error().code != ErrorCode::kConflict;
    });
    if (is_hopeless && !stop.stop_requested()) return fail(answers.front().error());
    return dealings;
  };
}

Dealing Consumer::Impl::dealing_of(const Message& message, const Result<Consumption>& answer) {
  if (answer) return Dealing::kDone;
  if (answer.error().code != ErrorCode::kInvalid) return Dealing::kNotYet;
  return refusals_counted.add(key_of(message)) ? Dealing::kRefused : Dealing::kRefusedAgain;
}

Scope Consumer::Impl::scope_of(const Message& message) const {
  return {.source = message.source, .group = settings.group, .topic = message.topic};
}

store::MessageKey Consumer::Impl::key_of(const Message& message) const {
  return message::key_of(scope_of(message), message.id);
}

Result<store::Dealt> Consumer::Impl::dealt_of(const Message& message, const store::MessageKey& key,
                                              const Ran& ran, task::TaskId id) {
  const Handling& handling = settings.handling;
  if (!ran.failed && !ran.waits) {
    return store::Dealt{.key = key, .keep_for = handling.keep_done_for};
  }
  Envelope envelope = envelope_of(message, settings.group);
  if (ran.failed) envelope.business_id = ran.failed->business_id;
  auto spec = spec_of(envelope, message.body, handling);
  if (!spec) return fail(std::move(spec).error());
  FirstAttempt attempt{.id = id,
                       .spec = *std::move(spec),
                       .claim = {.owner = parts.node(), .lease = task::LeaseId(parts.ids.next())},
                       .started_at = ran.started_at,
                       .ended_at = ran.ended_at,
                       .retries = replays_of(message.headers),
                       .note = ran.failed ? to_note(ran.failed->detail) : std::string()};
  if (ran.waits) return dealt(key, handling.keep_done_for, untried(std::move(attempt)));
  const MutexLock lock(rng_mutex);
  return dealt(key, handling.keep_done_for,
               tried(std::move(attempt), ran.failed->failure, parts.rules, rng));
}

Result<> Consumer::Impl::run_marking(const Run& handler, Call& call, const store::MessageKey& key,
                                     Ran& ran) const {
  const Duration within = std::min(settings.handling.timeout, kTransactionMax);
  return parts.opened.creates().transact(within, [&](store::Guest& guest) -> Result<> {
    call.guest = &guest;
    ran.was_called = true;
    try {
      ran.business_id = handler(call);
    } catch (...) {
      ran.failed = failed_run(std::current_exception(), std::move(call.about));
      return fail(ErrorCode::kInvalid, "the handler failed");
    }
    return store::mark_within(guest, key,
                              saturating_add(parts.store_now(), settings.handling.keep_done_for));
  });
}

void Consumer::Impl::sweep() {
  const Steady::time_point now = Steady::now();
  auto due = next_sweep.load(std::memory_order_relaxed);
  if (now.time_since_epoch().count() < due) return;
  const auto later = (now + kSweepEvery).time_since_epoch().count();
  if (!next_sweep.compare_exchange_strong(due, later)) return;
  do {
    const auto swept = parts.opened.inbox().sweep(kSweptAtOnce, settings.patience);
    if (!swept || *swept < kSweptAtOnce) return;
  } while (Steady::now() - now < kSweepBudget);
  // There are more: the next batch goes on with them.
  next_sweep = due;
}

}  // namespace recourse::message
