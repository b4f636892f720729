// What is known of messages whose handler failed: one record each, and one line of history for
// each attempt. A message that was done at once leaves only a mark, and no record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recourse/time.h"

namespace recourse {

// The numbers are part of the interface.
enum class MessageStatus : std::uint8_t {
  kRetrying = 0,   // will be tried again
  kPending = 1,    // the retries are used up, or would not help: a person has to look
  kProcessed = 2,  // done, by a retry or by a person
  kIgnored = 3,    // somebody decided that nothing is to be done
};

// RETRYING, PENDING, PROCESSED, IGNORED.
std::string_view to_string(MessageStatus status);

struct MessageHeader {
  std::string name;
  std::string value;  // bytes

  friend bool operator==(const MessageHeader&, const MessageHeader&) = default;
};

struct MessageRecord {
  // `tsk_01J...`: by this it is steered.
  std::string id;
  // The broker's, or the publisher's.
  std::string message_id;
  std::string business_id;
  std::string source;
  std::string group;
  std::string topic;
  std::string tags;
  std::string key;
  std::string tenant;
  std::vector<MessageHeader> headers;
  std::string body;
  MessageStatus status = MessageStatus::kRetrying;
  // Why it failed last.
  std::string error_code;
  std::string error;
  int retries_left = 0;
  int max_retries = 0;
  // Runs of the handler, the first one included.
  int attempts = 0;
  // Grows with every change.
  std::int64_t version = 0;
  // In the past while it runs.
  std::optional<TimePoint> next_retry_at;
  TimePoint created_at;
  TimePoint updated_at;
  std::optional<TimePoint> ended_at;
};

struct MessageAttempt {
  int attempt = 1;
  TimePoint operation_time;
  std::string exception_type;
  std::string error_code;
  std::string error_message;
  std::string consumer_ip;
  std::string stack_trace;
  std::optional<Duration> retry_delay;
  // FAILED or SUCCESS.
  std::string result;
  // A JSON object; empty where there is none.
  std::string custom_data;
};

// What is left empty does not matter.
struct MessageQuery {
  std::optional<MessageStatus> status = std::nullopt;
  std::string group = {};
  std::string topic = {};
  std::string source = {};
  std::string message_id = {};
  std::string business_id = {};
  std::string tenant = {};
  // When it was recorded; half open.
  std::optional<TimePoint> from = std::nullopt;
  std::optional<TimePoint> before = std::nullopt;
};

struct MessagePage {
  std::vector<MessageRecord> records;  // newest first
  // Goes into the next call; empty at the end.
  std::string next;
};

struct MessageSummary {
  std::int64_t retrying = 0;
  std::int64_t pending = 0;
  std::int64_t processed = 0;
  std::int64_t ignored = 0;
  // Published again, or cancelled as tasks: in none of the others, nor in the rate.
  std::int64_t cancelled = 0;
  // Of the records that have ended, how many were processed; empty where none has.
  std::optional<double> success_rate;
  // Of the newest 1,000.
  double average_retries = 0;
  // Ten.
  std::vector<MessageRecord> newest_pending;
};

struct RetriedMessages {
  std::size_t retried = 0;
  std::size_t refused = 0;
  // The bound was reached, or it was told to end.
  bool more = false;
};

// How a source fares.
struct SourceFigures {
  std::string name;
  bool connected = false;
  // Why not, or why nothing is taken; empty where all is well.
  std::string trouble;
  // Too many messages wait for their retries: nothing new is taken.
  bool is_full = false;
  std::uint64_t received = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t given_back = 0;
  // Can never be recorded; each counted once, however often its broker delivers it.
  std::uint64_t refused = 0;
  std::uint64_t errors = 0;
  std::optional<TimePoint> last_received_at;
};

}  // namespace recourse
