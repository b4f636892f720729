// Messages of one topic, for one member of a group.
//
// Kafka keeps one offset for a group and a partition, which is committed only up to the first
// message that is undecided (offset_ledger.h). So what was done behind an undecided message comes
// again after a crash or when the partition moves to another member; what was given back is read
// again from its offset. The library reconnects by itself: tickets outlive a broker that goes away,
// and are dropped when the partition is revoked.
#pragma once

#include <memory>

#include "base/log.h"
#include "message/broker.h"
#include "message/settings.h"

namespace recourse::message::kafka {

// kInvalid where a setting is wrong; nothing is connected yet. `log` must outlive it.
Result<std::unique_ptr<Source>> open(const SourceSettings& settings, Log& log);

}  // namespace recourse::message::kafka
