// Takes messages from one source for as long as it runs: receives batches, has them dealt with, and
// tells the broker. One thread speaks with the broker, so that it hears of us while handlers run;
// another one deals with what came.
//
// A batch that could not be dealt with (the store is down) is tried again with growing pauses, and
// given back when the feeder stops: nothing is acknowledged that is neither done nor recorded.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "message/broker.h"

namespace recourse::message {

// What is to become of one message.
enum class Dealing : std::uint8_t {
  kDone,     // done, recorded, or known before: acknowledge it
  kNotYet,   // could not be recorded now: keep it unacknowledged, and deal with it again later
  kRefused,  // can never be recorded (too large, ...): stays with the broker, which delivers it
             // again
  // The same, delivered again: it was told of and is counted.
  kRefusedAgain,
};

// On the dealing thread. An error says that none of them was dealt with, and is tried again.
using Deal =
    std::function<Result<std::vector<Dealing>>(std::span<const Message>, const std::stop_token&)>;

struct FeederSettings {
  // The most messages in one batch.
  std::size_t batch = 100;
  // How long one that was refused is kept before it is given back, so that it does not spin.
  Duration refused_pause = std::chrono::seconds(30);
  // True: leave the broker alone for now, because too much waits already. Asked between batches, on
  // the broker's thread, at most once a second; may be empty.
  std::function<bool()> is_full = nullptr;
};

// How a source fares, for people and metrics.
struct FeederFigures {
  bool connected = false;
  // Why not, or why nothing is taken; empty where all is well.
  std::string trouble = {};
  bool is_full = false;
  std::uint64_t received = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t given_back = 0;
  // Each counted once, however often it is delivered.
  std::uint64_t refused = 0;
  std::uint64_t errors = 0;
  std::optional<TimePoint> last_received_at = std::nullopt;
};

class Feeder {
 public:
  // The log must outlive it.
  Feeder(std::string name, std::unique_ptr<Source> source, FeederSettings settings, Deal deal,
         Log& log);
  // As join().
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  void start();
  // Takes nothing new, waits up to the limit for what is being dealt with, gives the rest back.
  void stop(Duration limit);
  // Stops, and waits for what is still being dealt with, however long it takes: afterwards nothing
  // of what `deal` uses is used any more.
  void join();

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] FeederFigures figures() const;
  // Durable on the broker when it answers; for messages that are to be published again.
  Result<> publish(std::span<const Outgoing> messages, Duration within);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace recourse::message
