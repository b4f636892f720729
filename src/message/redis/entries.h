// Entries of a stream as messages, and a message as an entry's fields.
#pragma once

#include <string>
#include <vector>

#include "message/message.h"
#include "message/redis/connection.h"
#include "message/settings.h"

namespace recourse::message::redis {

struct Entry {
  std::string id;
  Message message;  // all but ticket and source
};

// Of an array of [id, [field, value, ...]]. An entry that was deleted has no fields and is left
// out.
std::vector<Entry> entries_of(const redisReply& array, const SourceSettings& settings);

// Of XREADGROUP's answer, which has a list of streams, or is nothing.
std::vector<Entry> entries_read(const redisReply& reply, const SourceSettings& settings);

// XADD.
Command append_command(const Outgoing& message, const std::string& body_field);

}  // namespace recourse::message::redis
