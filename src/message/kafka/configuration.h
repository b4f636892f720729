// How librdkafka's clients are set up for a source.
#pragma once

#include "message/address.h"
#include "message/kafka/handles.h"
#include "message/settings.h"

namespace recourse::message::kafka {

Result<Configuration> consumer_configuration(const SourceSettings& settings,
                                             const Address& address);
// Every copy in sync before it answers, and no message twice for one that was sent again.
Result<Configuration> producer_configuration(const SourceSettings& settings,
                                             const Address& address);

// Takes the configuration over.
Result<Client> make_client(rd_kafka_type_t type, Configuration configuration);

}  // namespace recourse::message::kafka
