// A side effect that failed, on its way into the engine and as it is read back. It is a task like
// any other: the payload is what its handler needs, the search keys are what people find it by, and
// headers carry what only people read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "degrade/retry_rule.h"
#include "degrade/status.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::degrade {

// Names of search keys.
inline constexpr std::string_view kMemberKey = "member";
inline constexpr std::string_view kRelatedKey = "related_id";
inline constexpr std::string_view kTypeKey = "type";

inline constexpr std::size_t kRemarkBytesMax = 1'000;
// A reason is cut, not refused: whoever reports a failure has other worries.
inline constexpr std::size_t kReasonCharactersMax = 1'000;

struct Failure {
  task::Kind kind = {};
  task::Tenant tenant = {};
  std::string payload = {};
  std::string trace_parent = {};
  std::string member = {};
  std::string related_id = {};
  std::string type = {};
  std::string remark = {};
  std::optional<std::int64_t> amount = std::nullopt;
  // Of what is granted, such as points; no deadline of the retries.
  std::optional<TimePoint> expires_at = std::nullopt;
  std::string reason = {};
};

struct RetryPreset {
  int max_retries = kRetries;
  Duration first_after = kFirstRetryAfter;
  // Of each retry.
  Duration timeout = std::chrono::seconds(10);
};

Result<> validate(const RetryPreset& preset);

// The error names every bad field; the task it would become is checked too.
Result<> validate(const Failure& failure);
// Valid where the failure is.
store::Submission submission_of(task::TaskId id, const Failure& failure, const RetryPreset& preset);

// Whether the task is what this submission made of the same failure, told again. Why it failed may
// be put in other words the second time.
bool is_same_record(const task::Task& there, const store::Submission& submission);
// kConflict: another task has the id. Says of what kind, unless it is another tenant's.
Error id_is_taken(const task::Task& there, const task::Tenant& asked_by);

// As people see it.
struct Record {
  task::TaskId id;
  task::Kind kind = {};
  task::Tenant tenant = {};
  Status status = Status::kPending;
  task::State state = task::State::kPending;
  std::string member = {};
  std::string related_id = {};
  std::string type = {};
  std::string remark = {};
  std::optional<std::int64_t> amount = std::nullopt;
  std::optional<TimePoint> expires_at = std::nullopt;
  std::string failure_reason = {};
  TimePoint failed_at = {};
  // Of this episode: every run of the handler is one, but for those that were put off.
  int retries = 0;
  int max_retries = 0;
  // Runs of the handler over all episodes.
  int attempts = 0;
  // Empty while there was none, and where only the attempts themselves know.
  std::optional<TimePoint> last_retry_at = std::nullopt;
  std::string last_error = {};
  // Only while it waits for one.
  std::optional<TimePoint> next_retry_at = std::nullopt;
  std::optional<TimePoint> ended_at = std::nullopt;
};

// The id was made when the call began, so it tells the time of the failure; a record that waited in
// a spool keeps it, which the moment of its insert would not.
TimePoint failed_at(task::TaskId id);
Record record_of(const task::Task& task);
// Whether its last retry can only be told from its attempts.
bool needs_attempts(const Record& record);

}  // namespace recourse::degrade
