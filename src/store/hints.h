// Words between the processes on one database: something may be due, somebody asked for something.
// They make others quick and are never the truth: a lost one costs a scan's or a heartbeat's
// period.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace recourse::store {

enum class Hint : std::uint8_t {
  kWork,     // something may be due
  kRequest,  // people asked for something that concerns an owner
};

inline constexpr std::array kAllHints{Hint::kWork, Hint::kRequest};

constexpr std::string_view to_string(Hint hint) {
  switch (hint) {
    case Hint::kWork: return "work";
    case Hint::kRequest: return "request";
  }
  std::abort();
}

// Safe to call from any thread. Nothing is heard any more once it is gone.
class Hints {
 public:
  using Heard = std::function<void(Hint)>;

  virtual ~Hints() = default;
  // Never blocks; many within a few milliseconds are one.
  virtual void send(Hint hint) = 0;
};

}  // namespace recourse::store
