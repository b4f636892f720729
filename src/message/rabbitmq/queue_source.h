// Source over one channel: see source.h.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "message/address.h"
#include "message/link.h"
#include "message/outstanding.h"
#include "message/rabbitmq/connection.h"
#include "message/rabbitmq/publisher.h"

namespace recourse::message::rabbitmq {

class QueueSource final : public Source {
 public:
  QueueSource(SourceSettings settings, Address address, Log& log);

  Result<> connect(Deadline deadline) override;
  Result<std::vector<Message>> receive(std::size_t max, Deadline deadline) override;
  Result<Settlement> settle(std::span<const Verdict> verdicts, Deadline deadline) override;
  Result<> publish(std::span<const Outgoing> messages, Deadline deadline) override;
  void interrupt() override { link_.wakeup().wake(); }
  Result<std::size_t> close(Deadline deadline) override;

 private:
  using DeliveryTag = std::uint64_t;

  Result<> open_session(Deadline deadline);
  Result<> declare(const Connection& connection) const;
  Error lose_session(const Error& why);

  Result<> stay_alive(Deadline deadline);
  // One more, if it is here already: false where there is none.
  Result<bool> take_one(std::vector<Message>& batch);
  Message named(const amqp_envelope_t& envelope);
  // After the library met a frame that is no delivery.
  Result<> read_other_frame();
  Result<> acknowledge(const std::set<DeliveryTag>& done);

  const SourceSettings settings_;
  const Address address_;
  Link link_;
  Connection connection_;
  Publisher publisher_;
  Outstanding<DeliveryTag> out_;
  bool has_warned_of_id_ = false;
  Deadline next_heartbeat_{};
};

}  // namespace recourse::message::rabbitmq
