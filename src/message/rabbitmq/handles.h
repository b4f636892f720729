// librabbitmq's handles, freed by whoever lets go of them. Its names end in this folder.
#pragma once

#include <amqp.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "message/broker.h"

namespace recourse::message::rabbitmq {

struct ConnectionFreer {
  void operator()(amqp_connection_state_t connection) const noexcept {
    amqp_destroy_connection(connection);
  }
};
using ConnectionHandle =
    std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, ConnectionFreer>;

// Of an envelope that the library has filled; where it could not, it has freed it itself.
struct EnvelopeFreer {
  void operator()(amqp_envelope_t* envelope) const noexcept { amqp_destroy_envelope(envelope); }
};
using FilledEnvelope = std::unique_ptr<amqp_envelope_t, EnvelopeFreer>;

// A view: the library only reads it.
inline amqp_bytes_t bytes(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};
}
inline std::string text(amqp_bytes_t bytes) {
  return bytes.bytes == nullptr ? std::string()
                                : std::string(static_cast<const char*>(bytes.bytes), bytes.len);
}

// What is left until then, and never less than nothing.
timeval until(Deadline deadline);

}  // namespace recourse::message::rabbitmq
