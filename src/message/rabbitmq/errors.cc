#include "message/rabbitmq/errors.h"

#include <fmt/format.h>

#include "base/text.h"
#include "message/rabbitmq/handles.h"

namespace recourse::message::rabbitmq {
namespace {

constexpr std::size_t kWordsMax = 300;

struct Meaning {
  int reply_code;
  ErrorCode code;
  std::string_view advice;
};
constexpr Meaning kMeanings[] = {
    {AMQP_ACCESS_REFUSED, ErrorCode::kInvalid,
     "check the user and the password in the URL, and what the user may do (rabbitmqctl "
     "list_permissions)"},
    {AMQP_NOT_FOUND, ErrorCode::kNotFound, "declare it on the broker, or set rabbitmq.declare"},
    {AMQP_NOT_ALLOWED, ErrorCode::kInvalid,
     "check the virtual host at the end of the URL, and that the user may use it"},
    {AMQP_PRECONDITION_FAILED, ErrorCode::kInvalid,
     "it exists with other arguments; check rabbitmq.queue_type, or leave out rabbitmq.declare"},
};

}  // namespace

Error translate_close(int reply_code, std::string_view reply_text, std::string_view doing) {
  const std::string words = one_line(reply_text, kWordsMax);
  for (const Meaning& meaning : kMeanings) {
    if (meaning.reply_code != reply_code) continue;
    return {meaning.code, fmt::format("RabbitMQ refused {}: {}; {}", doing, words, meaning.advice)};
  }
  return {ErrorCode::kUnavailable, fmt::format("RabbitMQ ended {}: {}", doing, words)};
}

Error translate_status(int status, std::string_view doing) {
  if (status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED ||
      status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED) {
    return {
        ErrorCode::kInvalid,
        fmt::format("RabbitMQ's certificate is not trusted ({}): set tls_ca to the authority that "
                    "signed it, and connect by the name in it",
                    amqp_error_string2(status))};
  }
  return {ErrorCode::kUnavailable,
          fmt::format("RabbitMQ did not answer {}: {}; is it running there?", doing,
                      amqp_error_string2(status))};
}

Result<> check(const amqp_rpc_reply_t& reply, std::string_view doing) {
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
  if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) {
    return fail(translate_status(reply.library_error, doing));
  }
  if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
    const auto* close = static_cast<amqp_channel_close_t*>(reply.reply.decoded);
    return fail(translate_close(close->reply_code, text(close->reply_text), doing));
  }
  if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
    const auto* close = static_cast<amqp_connection_close_t*>(reply.reply.decoded);
    return fail(translate_close(close->reply_code, text(close->reply_text), doing));
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("RabbitMQ answered {} with something else", doing));
}

Error translate_frame(const amqp_frame_t& frame) {
  if (frame.frame_type != AMQP_FRAME_METHOD) {
    return {ErrorCode::kUnavailable, "RabbitMQ sent a frame out of turn"};
  }
  const amqp_method_t& method = frame.payload.method;
  if (method.id == AMQP_BASIC_CANCEL_METHOD) {
    return {ErrorCode::kUnavailable,
            "RabbitMQ ended the consumer: the queue was deleted, or its leader has moved"};
  }
  amqp_rpc_reply_t reply{};
  reply.reply_type = AMQP_RESPONSE_SERVER_EXCEPTION;
  reply.reply = method;
  return check(reply, "the connection").error();
}

}  // namespace recourse::message::rabbitmq
