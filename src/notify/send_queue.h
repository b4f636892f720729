// What waits to be sent, and what may be sent next: the dispatcher without its threads.
//
// Invariants
//   1. At most `queue_max` letters wait, those between two tries included; of one channel at most
//   half
//      of that where there are others, so that one that hangs leaves room.
//   2. A channel sends a second letter at the same time only while every other channel that sends
//      none would still find a thread. With up to `threads_max` channels, one that hangs never
//      keeps another waiting.
//   3. Every letter that was taken ends exactly once: sent, or failed.
//   4. While a channel's breaker is open its letters fail at once, without a try.
//
// Thread safety: none; the dispatcher's lock guards it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "notify/outgoing.h"
#include "policy/circuit_breaker.h"

namespace recourse::notify {

// What a setting may be at most; the configuration says the same.
inline constexpr int kThreadsMax = 100;
inline constexpr int kQueueMax = 100'000;
inline constexpr Duration kKeepAliveMax = std::chrono::hours(24);

struct DispatchSettings {
  // Threads that stay, and how many there may be; those beyond the first end after `keep_alive`
  // without work.
  int threads_core = 2;
  int threads_max = 4;
  Duration keep_alive = std::chrono::seconds(30);
  int queue_max = 2'000;
  // Of one letter, the first included; between two of them a pause that doubles.
  int tries_max = 3;
  Duration retry_delay_min = std::chrono::milliseconds(200);
  Duration retry_delay_max = std::chrono::seconds(4);
  // Of each channel.
  policy::BreakerSettings breaker = {.window_calls = 20, .min_calls = 6, .probes = 1};
};

Result<> validate(const DispatchSettings& settings);

struct LetterEnd {
  bool sent = false;
  int tries = 0;
  // Why not, for people.
  std::string error = {};
};

// One message for one channel.
struct Letter {
  std::shared_ptr<const Outgoing> message;
  std::size_t channel = 0;
  std::function<void(const LetterEnd&)> ended;
};

class SendQueue {
 public:
  struct Waiting {
    Letter letter;
    int tries = 0;
    std::string last_error = {};
  };
  // To be answered with tried().
  struct Try {
    Waiting waiting;
    policy::Permit permit;
    TimePoint began;
  };
  struct Ended {
    Letter letter;
    LetterEnd end;
  };

  // The settings must be valid.
  SendQueue(const DispatchSettings& settings, std::size_t channels);

  // False: there is no room.
  [[nodiscard]] bool offer(Letter letter);
  // What to send now, channels in turns; letters of those whose breaker is open end instead.
  [[nodiscard]] std::optional<Try> next(TimePoint now, std::vector<Ended>& ended);
  // How it went: the letter ends, or waits for its next try.
  void tried(Try attempt, Result<> result, TimePoint now, std::vector<Ended>& ended);
  // Those that wait end unsent; the ones that are out are tried no more.
  void give_up(std::string_view why, std::vector<Ended>& ended);

  // When to ask next() again, unless a try ends or a letter is offered before.
  [[nodiscard]] std::optional<TimePoint> next_wakeup() const;
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] int out() const { return out_; }
  [[nodiscard]] policy::BreakerState breaker_state(std::size_t channel) const {
    return lines_[channel].breaker.state();
  }

 private:
  struct Line {
    explicit Line(const policy::BreakerSettings& settings) : breaker(settings) {}

    policy::CircuitBreaker breaker;
    std::deque<Waiting> ready;
    std::multimap<TimePoint, Waiting> later;
    int out = 0;
  };

  std::optional<Try> next_of(Line& line, TimePoint now, std::vector<Ended>& ended);
  [[nodiscard]] bool has_thread_for(const Line& line) const;
  void fail_ready(Line& line, std::string_view why, std::vector<Ended>& ended);
  [[nodiscard]] Duration pause_after(int tries) const;

  const DispatchSettings settings_;
  std::vector<Line> lines_;
  std::size_t turn_ = 0;
  std::size_t waiting_ = 0;
  int out_ = 0;
  bool gave_up_ = false;
};

}  // namespace recourse::notify
