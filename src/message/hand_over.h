// Dealing with messages by handing each to the engine: it is recorded as a task that is due at
// once, acknowledged, and everything after that is the engine's. A message that comes again is
// known by its mark.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/log.h"
#include "base/ulid_source.h"
#include "engine/core/happening.h"
#include "message/body_format.h"
#include "message/envelope.h"
#include "message/feeder.h"
#include "message/refusals.h"
#include "store/inbox.h"

namespace recourse::message {

struct HandOverSettings {
  std::string group = {};
  Handling handling = {};
  BodyFormat format = BodyFormat::kAny;
};

struct HandOverParts {
  store::Inbox& inbox;
  UlidSource& ids;
  // Of all consumers of a source: what one has given back comes to another.
  Refusals& refusals;
  Log& log;
  // The store's time, as far as it is known: never ahead of it.
  std::function<TimePoint()> store_now;
  // A message went straight to a person: whoever hears of it tells people, keeps figures and writes
  // its log lines. Empty: there are only the lines.
  std::function<void(const engine::Moved&)> happened = nullptr;
  // There is work: wake the engine.
  std::function<void()> hint;
};

// What the parts refer to must outlive it. The settings are valid.
Deal hand_over(HandOverSettings settings, HandOverParts parts);

}  // namespace recourse::message
