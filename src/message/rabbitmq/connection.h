// One connection with one channel.
//
// The library answers heartbeats whenever it is called. Steps that wait for an answer are bounded
// by their deadline; what is only written waits, should the broker take nothing, for a heartbeat's
// time at most.
//
// Thread safety: none.
#pragma once

#include <string_view>

#include "base/result.h"
#include "message/address.h"
#include "message/broker.h"
#include "message/rabbitmq/handles.h"
#include "message/settings.h"

namespace recourse::message::rabbitmq {

inline constexpr amqp_channel_t kChannel = 1;

class Connection {
 public:
  Connection() = default;
  static Result<Connection> open(const SourceSettings& settings, const Address& address,
                                 Deadline deadline);

  [[nodiscard]] amqp_connection_state_t get() const { return handle_.get(); }

  // For the steps that follow.
  void set_deadline(Deadline deadline);
  // Of the last step that waited for an answer.
  [[nodiscard]] Result<> checked(std::string_view doing) const;

  // The next frame; kUnavailable after the deadline, or when there is none any more.
  Result<amqp_frame_t> next_frame(Deadline deadline);

  // Says goodbye; the broker gives what this channel had to others.
  void close(Deadline deadline);

 private:
  explicit Connection(ConnectionHandle handle) : handle_(std::move(handle)) {}

  Result<> open_socket(const SourceSettings& settings, const Address& address, Deadline deadline);
  Result<> log_in(const SourceSettings& settings, const Address& address);

  ConnectionHandle handle_;
};

}  // namespace recourse::message::rabbitmq
