// What makes a message one and the same, however often it is delivered: its source, its consumers'
// group, its topic and its id.
//
// Keys that lie side by side in the store's index are cheap to mark: 100,000 in random order cost
// SQLite four times as much. So whatever grows in an id grows in its key, which begins with 8 bytes
// of a hash of source, group and topic:
//
//   `orders-3-1187`, `1700000000000-2`   16 bytes: a hash of what stands before the two numbers |
//   (positions of Kafka and Redis)       8 bytes each: the numbers
//   `order/4711`, `1782736482736`        16 bytes: a hash of what stands before the number | 8
//   bytes:
//                                        the number
//   anything else (ULIDs, UUIDs, ...)    its first 8 bytes | 16 bytes: a hash of all of it
//
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "store/inbox.h"

namespace recourse::message {

// One consumers' group of one topic.
struct Scope {
  std::string_view source;
  std::string_view group;
  std::string_view topic;
};

// Makes the keys of one scope's messages. The same on every machine. Ids that differ make different
// keys, but for a collision of 128 bits.
class KeyMaker {
 public:
  explicit KeyMaker(const Scope& scope);
  [[nodiscard]] store::MessageKey key_of(std::string_view id) const;

 private:
  std::string scope_;
};
store::MessageKey key_of(const Scope& scope, std::string_view id);

// Under which a handler that shares its transaction marks a recorded message as done: so a retry
// whose end was not heard of is not run again.
store::MessageKey done_key_of(const store::MessageKey& key);

}  // namespace recourse::message
