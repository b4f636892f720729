// The record of one notice on one channel, for whoever keeps them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "notify/event.h"
#include "task/ids.h"

namespace recourse::notify {

enum class DeliveryResult : std::uint8_t {
  kSent,
  kFailed,      // after all its tries, or without one where there was no room
  kSuppressed,  // by a filter; told of in a later message, unless nobody wants it
};

inline constexpr std::array kAllDeliveryResults{DeliveryResult::kSent, DeliveryResult::kFailed,
                                                DeliveryResult::kSuppressed};

constexpr std::string_view to_string(DeliveryResult result) {
  switch (result) {
    case DeliveryResult::kSent: return "sent";
    case DeliveryResult::kFailed: return "failed";
    case DeliveryResult::kSuppressed: return "suppressed";
  }
  std::abort();
}

struct Delivery {
  std::string notice;  // its id
  Event event;
  Severity severity;
  task::Kind kind;
  std::optional<task::TaskId> task;
  task::Tenant tenant;
  std::string channel;
  DeliveryResult result;
  int tries = 0;
  // Why it failed or was held back; without secrets.
  std::string error;
  TimePoint at;  // by the wall clock
  // Further ones that the message told of.
  std::int64_t more = 0;
  // A message about notices that were all held back, sent because no other came. They were counted
  // as suppressed; this one counts apart.
  bool summary = false;
};

}  // namespace recourse::notify
