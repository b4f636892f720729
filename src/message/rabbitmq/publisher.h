// Publishes into queues, on a connection of its own, and waits for RabbitMQ's confirmation: from
// then on the message is on the disks of a quorum queue's members, or of a durable classic queue's
// node.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "message/broker.h"
#include "message/rabbitmq/connection.h"

namespace recourse::message::rabbitmq {

class Publisher {
 public:
  Publisher(const SourceSettings& settings, const Address& address)
      : settings_(settings), address_(address) {}

  Result<> publish(std::span<const Outgoing> messages, Deadline deadline);
  void close(Deadline deadline);

 private:
  Result<> open(Deadline deadline);
  Result<> send(const Outgoing& message);
  // kNotFound where a message had no queue to go to, kExhausted where the broker refused one.
  Result<> await_confirmations(Deadline deadline);
  void confirmed(std::uint64_t tag, bool and_all_before);
  Result<> read_returned();

  const SourceSettings& settings_;
  const Address& address_;
  std::optional<Connection> connection_;
  Deadline last_used_{};
  // RabbitMQ counts what a channel publishes; these have not been confirmed.
  std::uint64_t last_tag_ = 0;
  std::set<std::uint64_t> unconfirmed_;
};

}  // namespace recourse::message::rabbitmq
