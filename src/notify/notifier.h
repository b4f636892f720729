// Tells people, without ever being in the way of what it tells of.
//
//   fire ──> filters ──pass──> router ──> dispatcher ──> channels
//               │                 ^
//               └─ held back ─────┘ counted in the next message of its sort, or named when its time
//                                   comes and no other message has told of it
//
// Invariants
//   1. fire() neither blocks nor throws.
//   2. Every fire() counts exactly once for each channel it was routed to:
//      routed = sent + failed + suppressed + what is still out.
//   3. Every `ended` is called exactly once. kDelivered means that a message which names the
//      notice, or counts it in `more`, was taken by a channel that reaches people, or by any where
//      none of its channels does.
//   4. Nothing leaves unmasked, and nothing grows without a bound.
//
// Safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "notify/channel.h"
#include "notify/delivery.h"
#include "notify/fate.h"
#include "notify/filters.h"
#include "notify/masking.h"
#include "notify/router.h"
#include "notify/send_queue.h"

namespace recourse::notify {

struct NotifierSettings {
  // Other than the events' own.
  std::map<Event, Severity> severities = {};
  MaskingSettings masking = {};
  AllowSettings allow = {};
  QuietSettings quiet_hours = {};
  RateLimitSettings rate_limit = {};
  RouterSettings router = {};
  DispatchSettings dispatch = {};
  // Callers who wait to hear of what is held back; further ones hear at once that theirs goes out
  // later. Half of what a CaseBook has out at most: a night's worth of what is quiet must leave it
  // room for what is not.
  std::size_t held_back_max = 5'000;
};

// What the settings cannot hold.
struct NotifierParts {
  // With names of their own.
  std::vector<std::shared_ptr<Channel>> channels = {};
  // Empty: by the settings' rules.
  std::unique_ptr<Router> router = nullptr;
  // Asked after the built-in ones, before the rate limit. One that throws lets pass.
  std::vector<std::unique_ptr<Filter>> filters = {};
  // Of every notice on every channel, on any thread. Must not block; what it throws is dropped.
  std::function<void(const Delivery&)> on_delivery = nullptr;
};

// All that can be known without trying: `known_channels` are the names of all there will be.
Result<> validate(const NotifierSettings& settings, const std::vector<std::string>& known_channels);

struct NotifierCounts {
  std::uint64_t fired = 0;
  // By channel: routed = sent + failed + suppressed + out.
  std::uint64_t routed = 0;
  std::uint64_t sent = 0;
  std::uint64_t failed = 0;
  std::uint64_t suppressed = 0;
  std::uint64_t out = 0;
  // Messages that only told of what had been held back, by channel.
  std::uint64_t summaries_sent = 0;
  std::uint64_t summaries_failed = 0;
  // Of the failed ones: the queue had no room.
  std::uint64_t refused = 0;
};

// One channel, as people are shown it.
struct ChannelStatus {
  std::string name;
  policy::BreakerState breaker = policy::BreakerState::kClosed;
  // What of NotifierCounts is this channel's.
  std::uint64_t sent = 0;
  std::uint64_t failed = 0;
  std::uint64_t suppressed = 0;
  std::uint64_t summaries_sent = 0;
  std::uint64_t summaries_failed = 0;
};

class Notifier {
 public:
  // Switched off: the same to callers, and nothing happens. Every fate is kUnwanted.
  Notifier();
  // The clock and the log must outlive it.
  static Result<std::unique_ptr<Notifier>> make(NotifierSettings settings, NotifierParts parts,
                                                const Clock& clock, Log& log);
  // Stops at once; see Dispatcher.
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  [[nodiscard]] bool is_on() const { return state_ != nullptr; }

  void fire(Notice notice, Ended ended = {}) noexcept;

  // Sends on one channel and waits for it: for a person who tries it out. No filter, no router, no
  // second try, and not in the counts. The error tells what is wrong, and names the channels there
  // are where this is none of them.
  Result<> test(std::string_view channel, const Notice& notice, const std::stop_token& stop = {});

  // What is held back goes out first. At most `within` and a second; later notices are dropped.
  void stop(Duration within);

  [[nodiscard]] NotifierCounts counts() const;
  // Open while a channel fails and is left alone.
  [[nodiscard]] std::vector<std::pair<std::string, policy::BreakerState>> channels() const;

  // In the order in which they were given.
  [[nodiscard]] std::vector<ChannelStatus> statuses() const;

  // Sends what was held back and whose time has come. Its own thread does so; tests that move a
  // clock by hand call it.
  void look_at_held_back() noexcept;

 private:
  class State;  // notifier_state.h
  explicit Notifier(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace recourse::notify
