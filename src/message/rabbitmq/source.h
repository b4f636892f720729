// Messages of one queue. RabbitMQ holds the bound of what is out, and gives what was not decided to
// somebody else as soon as the channel is gone.
#pragma once

#include <memory>

#include "base/log.h"
#include "message/broker.h"
#include "message/settings.h"

namespace recourse::message::rabbitmq {

// kInvalid where a setting is wrong; nothing is connected yet. `log` must outlive it.
Result<std::unique_ptr<Source>> open(const SourceSettings& settings, Log& log);

}  // namespace recourse::message::rabbitmq
