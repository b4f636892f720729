// Where messages come from, and who handles them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "app/config/secret.h"
#include "base/time.h"
#include "message/envelope.h"
#include "message/hand_over.h"
#include "message/records.h"
#include "message/settings.h"

namespace recourse::app {

enum class MessageOrder : std::uint8_t {
  kOff,
  kKey,  // messages of one key one after the other
};

// What a message that ended with a person means for those of its key that come after it.
enum class DeadHead : std::uint8_t { kBlock, kSkip };

// Who tries a message again.
enum class RetryBy : std::uint8_t {
  kHandler,  // the kind's own handler
  kPublish,  // whoever consumes it then: it is published to its topic again
};

struct SourceConfig {
  // Its name and URL are filled in when it is opened.
  message::SourceSettings settings = {};
  // May hold a password.
  Secret url = {};
  std::string kind = {};
  std::string tenant = {};
  std::size_t batch = 100;
  int consumers = 1;
  message::BodyFormat format = message::BodyFormat::kAny;
  MessageOrder order = MessageOrder::kOff;
  DeadHead dead_head = DeadHead::kBlock;
  RetryBy retry_by = RetryBy::kHandler;
  std::size_t backlog_limit = 100'000;
  Duration keep_done_for = message::Handling().keep_done_for;
};

struct MessagesConfig {
  std::map<std::string, SourceConfig> sources = {};
  Duration keep_processed = message::kKeepProcessed;
  Duration keep_ignored = message::kKeepIgnored;
};

}  // namespace recourse::app
