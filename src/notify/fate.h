// What became of a notice.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace recourse::notify {

enum class Fate : std::uint8_t {
  kDelivered,  // a channel that counts took the message that names or counts it; see Channel
  kFailed,     // none did
  kDropped,    // there was no room: nobody was told, and nobody will be
  kUnwanted,   // by the settings nobody is to be told; asking again changes nothing
};

constexpr std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::kDelivered: return "delivered";
    case Fate::kFailed: return "failed";
    case Fate::kDropped: return "dropped";
    case Fate::kUnwanted: return "unwanted";
  }
  std::abort();
}

// Called once, on any thread, within fire() too. Must not block; what it throws is dropped.
using Ended = std::function<void(Fate)>;

inline void tell(const Ended& ended, Fate fate) noexcept {
  try {
    if (ended) ended(fate);
  } catch (...) {
    // Not ours, and nobody is left who could hear of it.
  }
}

}  // namespace recourse::notify
