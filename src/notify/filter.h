// Filters stand before the router and say whether a notice goes out now, later or never.
//
// What is held back is not lost: the notifier counts it and tells of it in the next message of its
// sort, at the latest when the filter's `until` has come. What nobody wants is forgotten.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "notify/notice.h"

namespace recourse::notify {

// One moment on both clocks: `steady` for how long, `wall` for what the clock on the wall shows.
struct Now {
  TimePoint steady;
  TimePoint wall;
};

struct Verdict {
  enum class Answer : std::uint8_t { kPass, kHoldBack, kUnwanted };

  Answer answer = Answer::kPass;
  // By the steady clock, of what is held back: the first moment at which it may pass.
  TimePoint until = {};
  // For people, where it does not pass.
  std::string why = {};
};

// Thread safety: none needed; the notifier asks one at a time. Must not block.
class Filter {
 public:
  virtual ~Filter() = default;

  // Of one that passes too: a rate limit counts it.
  virtual Verdict judge(const Notice& notice, Now now) = 0;
};

}  // namespace recourse::notify
