// Publishes to topics, and waits until every copy in sync has it.
//
// Thread safety: none.
#pragma once

#include <span>

#include "message/address.h"
#include "message/broker.h"
#include "message/kafka/handles.h"

namespace recourse::message::kafka {

class Publisher {
 public:
  Publisher(const SourceSettings& settings, const Address& address)
      : settings_(settings), address_(address) {}

  Result<> publish(std::span<const Outgoing> messages, Deadline deadline);
  void close() { producer_.reset(); }

 private:
  // Of one call: how many are still to be told, and the first that went wrong.
  struct Reports;

  static void on_report(rd_kafka_t* producer, const rd_kafka_message_t* record, void* opaque);
  Result<> open();
  Result<> send(const Outgoing& message, Reports& reports, Deadline deadline);

  const SourceSettings& settings_;
  const Address& address_;
  Client producer_;
};

}  // namespace recourse::message::kafka
