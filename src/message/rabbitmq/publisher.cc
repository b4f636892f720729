#include "message/rabbitmq/publisher.h"

#include <fmt/format.h>

#include "base/text.h"
#include "message/rabbitmq/errors.h"
#include "message/rabbitmq/properties.h"

namespace recourse::message::rabbitmq {
namespace {

// Confirmations are awaited for so many at a time, so that neither side fills the other's buffers.
constexpr std::size_t kUnconfirmedMax = 500;

Error in_doubt(const Error& error) {
  return {ErrorCode::kInDoubt, error.message + "; some messages may have been published"};
}

}  // namespace

Result<> Publisher::publish(std::span<const Outgoing> messages, Deadline deadline) {
  // Nobody answers its heartbeats meanwhile, so RabbitMQ may have ended it.
  const auto now = std::chrono::steady_clock::now();
  if (now - std::exchange(last_used_, now) > settings_.heartbeat / 2) connection_.reset();
  if (!connection_) {
    if (Result<> opened = open(deadline); !opened) return opened;
  }
  while (!messages.empty()) {
    const auto batch = messages.first(std::min(kUnconfirmedMax, messages.size()));
    Result<> confirmed;
    for (const Outgoing& message : batch) {
      confirmed = send(message);
      if (!confirmed) break;
    }
    if (confirmed) confirmed = await_confirmations(deadline);
    if (!confirmed) {
      // What is still on its way would be taken for an answer to the next.
      connection_.reset();
      const bool is_open = confirmed.error().code == ErrorCode::kUnavailable;
      return is_open ? fail(in_doubt(confirmed.error())) : fail(confirmed.error());
    }
    messages = messages.subspan(batch.size());
  }
  return {};
}

Result<> Publisher::open(Deadline deadline) {
  Result<Connection> opened = Connection::open(settings_, address_, deadline);
  if (!opened) return fail(std::move(opened).error());
  amqp_confirm_select(opened->get(), kChannel);
  if (Result<> agreed = opened->checked("to confirm what is published"); !agreed) return agreed;
  connection_ = *std::move(opened);
  last_tag_ = 0;
  unconfirmed_.clear();
  return {};
}

// Through the default exchange, which knows every queue by its name: a replay must not reach other
// queues that are bound to where the message once came from.
Result<> Publisher::send(const Outgoing& message) {
  constexpr amqp_boolean_t kMandatory = 1;
  const PublishedProperties properties(message);
  const int status =
      amqp_basic_publish(connection_->get(), kChannel, amqp_empty_bytes, bytes(message.topic),
                         kMandatory, 0, &properties.get(), bytes(message.body));
  if (status != AMQP_STATUS_OK) return fail(translate_status(status, "to publish"));
  unconfirmed_.insert(++last_tag_);
  return {};
}

Result<> Publisher::await_confirmations(Deadline deadline) {
  Result<> answer;
  while (!unconfirmed_.empty()) {
    amqp_maybe_release_buffers(connection_->get());
    Result<amqp_frame_t> frame = connection_->next_frame(deadline);
    if (!frame) return fail(std::move(frame).error());
    if (frame->frame_type != AMQP_FRAME_METHOD) continue;
    const amqp_method_t& method = frame->payload.method;
    if (method.id == AMQP_BASIC_ACK_METHOD) {
      const auto* ack = static_cast<amqp_basic_ack_t*>(method.decoded);
      confirmed(ack->delivery_tag, ack->multiple != 0);
    } else if (method.id == AMQP_BASIC_RETURN_METHOD) {
      answer = read_returned();
      if (answer.error().code != ErrorCode::kNotFound) return answer;
    } else if (method.id == AMQP_BASIC_NACK_METHOD) {
      return fail(ErrorCode::kExhausted,
                  "RabbitMQ refused a message: the queue is full, or has no majority");
    } else {
      return fail(translate_frame(*frame));
    }
  }
  return answer;
}

void Publisher::confirmed(std::uint64_t tag, bool and_all_before) {
  const auto end = unconfirmed_.upper_bound(tag);
  unconfirmed_.erase(and_all_before ? unconfirmed_.begin() : unconfirmed_.lower_bound(tag), end);
}

Result<> Publisher::read_returned() {
  amqp_message_t message{};
  const Result<> read =
      check(amqp_read_message(connection_->get(), kChannel, &message, 0), "in time");
  if (!read) return read;
  amqp_destroy_message(&message);
  return fail(ErrorCode::kNotFound,
              "RabbitMQ has no queue of the name of the message's topic: declare it");
}

void Publisher::close(Deadline deadline) {
  if (connection_) connection_->close(deadline);
  connection_.reset();
}

}  // namespace recourse::message::rabbitmq
