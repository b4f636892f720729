// hiredis' handles, freed by whoever lets go of them. Its names end in this folder.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <string_view>

namespace recourse::message::redis {

struct ContextFreer {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};
using ContextHandle = std::unique_ptr<redisContext, ContextFreer>;

struct ReplyFreer {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, ReplyFreer>;

inline std::string text(const redisReply& reply) {
  return reply.str == nullptr ? std::string() : std::string(reply.str, reply.len);
}
inline bool is_array(const redisReply& reply, std::size_t at_least = 0) {
  return reply.type == REDIS_REPLY_ARRAY && reply.elements >= at_least;
}

}  // namespace recourse::message::redis
