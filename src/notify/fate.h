// What became of a notice.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "base/time.h"

namespace recourse::notify {

enum class Fate : std::uint8_t {
  kDelivered,  // a channel that counts took the message that names or counts it; see Channel
  kFailed,     // none did
  kDropped,    // there was no room: nobody was told, and nobody will be
  kUnwanted,   // by the settings nobody is to be told; asking again changes nothing
  kLater,      // held back, and not kept: nobody was told, and asking again helps when it is time
};

constexpr std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::kDelivered: return "delivered";
    case Fate::kFailed: return "failed";
    case Fate::kDropped: return "dropped";
    case Fate::kUnwanted: return "unwanted";
    case Fate::kLater: return "later";
  }
  std::abort();
}

struct Ending {
  Fate fate;
  // Of kLater: from now on.
  Duration wait = Duration::zero();
};

// Called once, on any thread, within fire() too. Must not block; what it throws is dropped.
using Ended = std::function<void(const Ending&)>;

inline void tell(const Ended& ended, const Ending& ending) noexcept {
  try {
    if (ended) ended(ending);
  } catch (...) {
    // Not ours, and nobody is left who could hear of it.
  }
}

}  // namespace recourse::notify
