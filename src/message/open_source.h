// The one place that knows which brokers this build has.
#pragma once

#include <memory>

#include "base/log.h"
#include "message/broker.h"
#include "message/settings.h"

namespace recourse::message {

// By the scheme of its URL. kInvalid where a setting is wrong, or this build lacks that broker;
// nothing is connected yet. `log` must outlive it.
Result<std::unique_ptr<Source>> open_source(const SourceSettings& settings, Log& log);

}  // namespace recourse::message
