// Messages of one stream, for one consumer of a group.
//
// Redis remembers who has an entry and since when, and nothing else: there is no connection that an
// entry belongs to, and no way to hand it back. So
//   - a verdict stays good when the connection is lost, and is sent again on the next one;
//   - given back means marked as idle for `claim_after`: whoever claims next has it;
//   - what is out is touched in time, so that nobody takes it from a living consumer;
//   - a dead consumer's entries are claimed after `claim_after`.
// Durable means what the server's `appendfsync` makes of it.
#pragma once

#include <memory>

#include "base/log.h"
#include "message/broker.h"
#include "message/settings.h"

namespace recourse::message::redis {

// kInvalid where a setting is wrong; nothing is connected yet. `log` must outlive it.
Result<std::unique_ptr<Source>> open(const SourceSettings& settings, Log& log);

}  // namespace recourse::message::redis
