// What makes a message one and the same, however often it is delivered: its source, its consumers'
// group, its topic and its id.
//
//   8 bytes: a hash of source, group and topic | 16 bytes: a hash of the id, or of what stands
//   before its two numbers | 8 bytes each: these numbers, where it ends in two
//
// An id that ends in two numbers is a position of Kafka or Redis (`orders-3-1187`,
// `1700000000000-2`): so the keys of one partition or stream grow, and lie side by side in the
// store's index. Pure.
#pragma once

#include <string_view>

#include "store/inbox.h"

namespace recourse::message {

// One consumers' group of one topic.
struct Scope {
  std::string_view source;
  std::string_view group;
  std::string_view topic;
};

// The same on every machine. Ids that differ make different keys, but for a collision of 128 bits.
store::MessageKey key_of(const Scope& scope, std::string_view id);

// Under which a handler that shares its transaction marks a recorded message as done: so a retry
// whose end was not heard of is not run again.
store::MessageKey done_key_of(const store::MessageKey& key);

}  // namespace recourse::message
