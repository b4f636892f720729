// librdkafka's handles, freed by whoever lets go of them. Its names end in this folder.
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <memory>

#include "message/broker.h"

namespace recourse::message::kafka {

// Without leaving the group politely, which may take long: who wants that closes the consumer
// first.
struct ClientFreer {
  void operator()(rd_kafka_t* client) const noexcept {
    rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
};
using Client = std::unique_ptr<rd_kafka_t, ClientFreer>;

struct ConfigurationFreer {
  void operator()(rd_kafka_conf_t* configuration) const noexcept {
    rd_kafka_conf_destroy(configuration);
  }
};
using Configuration = std::unique_ptr<rd_kafka_conf_t, ConfigurationFreer>;

struct QueueFreer {
  void operator()(rd_kafka_queue_t* queue) const noexcept { rd_kafka_queue_destroy(queue); }
};
using Queue = std::unique_ptr<rd_kafka_queue_t, QueueFreer>;

struct PartitionsFreer {
  void operator()(rd_kafka_topic_partition_list_t* list) const noexcept {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t, PartitionsFreer>;

struct EventFreer {
  void operator()(rd_kafka_event_t* event) const noexcept { rd_kafka_event_destroy(event); }
};
using Event = std::unique_ptr<rd_kafka_event_t, EventFreer>;

struct RecordFreer {
  void operator()(rd_kafka_message_t* record) const noexcept { rd_kafka_message_destroy(record); }
};
using Record = std::unique_ptr<rd_kafka_message_t, RecordFreer>;

struct ErrorFreer {
  void operator()(rd_kafka_error_t* error) const noexcept { rd_kafka_error_destroy(error); }
};
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, ErrorFreer>;

struct MetadataFreer {
  void operator()(const rd_kafka_metadata_t* metadata) const noexcept {
    rd_kafka_metadata_destroy(metadata);
  }
};
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, MetadataFreer>;

// What is left until then, for calls that take milliseconds.
inline int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

}  // namespace recourse::message::kafka
