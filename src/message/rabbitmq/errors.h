// RabbitMQ's reply codes and the library's statuses, by what the caller should do. The only place
// that knows them.
#pragma once

#include <amqp.h>

#include <string_view>

#include "base/result.h"

namespace recourse::message::rabbitmq {

// `doing` begins the sentence: "to consume from the queue orders".
Error translate_status(int status, std::string_view doing);
// What a server says when it closes a channel or a connection.
Error translate_close(int reply_code, std::string_view reply_text, std::string_view doing);
Result<> check(const amqp_rpc_reply_t& reply, std::string_view doing);
// The same for a close that came by itself, as a frame.
Error translate_frame(const amqp_frame_t& frame);

}  // namespace recourse::message::rabbitmq
