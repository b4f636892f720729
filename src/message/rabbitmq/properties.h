// A delivery of RabbitMQ's as a message, and a message as what RabbitMQ takes.
#pragma once

#include <vector>

#include "message/message.h"
#include "message/rabbitmq/handles.h"

namespace recourse::message::rabbitmq {

// All but ticket and source. `queue` is where it was consumed from.
Message message_of(const amqp_envelope_t& envelope, const std::string& queue);

// Points into the message it was made of.
class PublishedProperties {
 public:
  explicit PublishedProperties(const Outgoing& message);

  [[nodiscard]] const amqp_basic_properties_t& get() const { return properties_; }

 private:
  void add(std::string_view name, std::string_view value);

  std::vector<amqp_table_entry_t> headers_;
  amqp_basic_properties_t properties_{};
};

}  // namespace recourse::message::rabbitmq
