// librdkafka's error codes, by what the caller should do. The only place that knows them.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string_view>

#include "base/result.h"

namespace recourse::message::kafka {

Error translate(rd_kafka_resp_err_t code, std::string_view words);

}  // namespace recourse::message::kafka
