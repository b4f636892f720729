// Kafka's records as messages.
#pragma once

#include "message/kafka/handles.h"
#include "message/message.h"

namespace recourse::message::kafka {

// All but ticket and source.
Message message_of(const rd_kafka_message_t& record);

}  // namespace recourse::message::kafka
