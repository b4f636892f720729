#include "degrade/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/field_checks.h"
#include "base/rfc3339.h"
#include "base/text.h"

namespace recourse::degrade {
namespace {

constexpr std::string_view kReasonHeader = "Recourse-Degrade-Reason";
constexpr std::string_view kRemarkHeader = "Recourse-Degrade-Remark";
constexpr std::string_view kAmountHeader = "Recourse-Degrade-Amount";
constexpr std::string_view kExpiryHeader = "Recourse-Degrade-Expires-At";

using Texts = std::map<std::string, std::string>;

void put(Texts& texts, std::string_view name, std::string value) {
  if (!value.empty()) texts.emplace(name, std::move(value));
}

std::string get(const Texts& texts, std::string_view name) {
  const auto found = texts.find(std::string(name));
  return found == texts.end() ? std::string() : found->second;
}

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<TimePoint> time_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Result<TimePoint> time = parse_rfc3339("expires_at", text);
  return time ? std::optional(*time) : std::nullopt;
}

// The run that succeeded, or that a rule took for final, used none of them up and was one all the
// same: the inline call had been the first attempt.
int retries_of(const task::Task& task) {
  const bool ended_by_run =
      task.state == task::State::kSucceeded || task.state == task::State::kFailed ||
      (task.state == task::State::kDead && task.retries < task.spec.max_retries);
  return std::min(task.attempts, task.retries + (ended_by_run ? 1 : 0));
}

task::TaskSpec spec_of(const Failure& failure, const RetryPreset& preset) {
  task::TaskSpec spec;
  spec.kind = failure.kind;
  spec.tenant = failure.tenant;
  spec.payload = failure.payload;
  spec.trace_parent = failure.trace_parent;
  spec.max_retries = preset.max_retries;
  spec.timeout = preset.timeout;
  put(spec.search_keys, kMemberKey, failure.member);
  put(spec.search_keys, kRelatedKey, failure.related_id);
  put(spec.search_keys, kTypeKey, failure.type);
  put(spec.headers, kRemarkHeader, failure.remark);
  put(spec.headers, kReasonHeader, one_line(failure.reason, kReasonCharactersMax));
  if (failure.amount) put(spec.headers, kAmountHeader, std::to_string(*failure.amount));
  if (failure.expires_at) put(spec.headers, kExpiryHeader, format_rfc3339(*failure.expires_at));
  return spec;
}

}  // namespace

Result<> validate(const RetryPreset& preset) {
  using namespace std::chrono_literals;
  return FieldChecks("degrade")
      .between("max_retries", preset.max_retries, 1, task::kRetriesMax)
      .between<Duration>("first_retry_after", preset.first_after, 0s, kLongestWait)
      .between<Duration>("retry_timeout", preset.timeout, 1ms, 24h)
      .result();
}

Result<> validate(const Failure& failure) {
  constexpr std::size_t kNone = 0;
  constexpr std::string_view kPlain = "must be valid UTF-8 without control characters";
  Result<> own =
      FieldChecks("failure")
          .between("member (bytes)", failure.member.size(), kNone, task::kKeyBytesMax)
          .require(is_plain_text(failure.member), "member", kPlain)
          .between("related_id (bytes)", failure.related_id.size(), kNone, task::kKeyBytesMax)
          .require(is_plain_text(failure.related_id), "related_id", kPlain)
          .between("type (bytes)", failure.type.size(), kNone, task::kKeyBytesMax)
          .require(is_plain_text(failure.type), "type", kPlain)
          .between("remark (bytes)", failure.remark.size(), kNone, kRemarkBytesMax)
          .require(is_plain_text(failure.remark), "remark", kPlain)
          .result();
  if (!own) return own;
  return task::validate(spec_of(failure, {}));
}

store::Submission submission_of(task::TaskId id, const Failure& failure,
                                const RetryPreset& preset) {
  store::Submission submission;
  submission.id = id;
  submission.spec = spec_of(failure, preset);
  submission.delay = preset.first_after;
  return submission;
}

bool is_same_record(const task::Task& there, const store::Submission& submission) {
  const auto told = [](const task::TaskSpec& spec) {
    Texts headers = spec.headers;
    headers.erase(std::string(kReasonHeader));
    return headers;
  };
  const task::TaskSpec& spec = submission.spec;
  return there.id == submission.id && there.spec.kind == spec.kind &&
         there.spec.tenant == spec.tenant && there.spec.payload == spec.payload &&
         there.spec.search_keys == spec.search_keys && told(there.spec) == told(spec);
}

Error id_is_taken(const task::Task& there, const task::Tenant& asked_by) {
  const std::string whose = there.spec.tenant == asked_by
                                ? fmt::format("by a task of kind {}", there.spec.kind.value)
                                : std::string("by a task of another tenant");
  return {ErrorCode::kConflict,
          fmt::format("the id {} is taken {} that is not this failure, which is not recorded: use "
                      "a new id, or leave it out",
                      task::to_string(there.id), whose)};
}

TimePoint failed_at(task::TaskId id) { return created_at(id.value); }

Record record_of(const task::Task& task) {
  Record record;
  record.id = task.id;
  record.kind = task.spec.kind;
  record.tenant = task.spec.tenant;
  record.status = status_of(task.state);
  record.state = task.state;
  record.member = get(task.spec.search_keys, kMemberKey);
  record.related_id = get(task.spec.search_keys, kRelatedKey);
  record.type = get(task.spec.search_keys, kTypeKey);
  record.remark = get(task.spec.headers, kRemarkHeader);
  record.amount = number_of(get(task.spec.headers, kAmountHeader));
  record.expires_at = time_of(get(task.spec.headers, kExpiryHeader));
  record.failure_reason = get(task.spec.headers, kReasonHeader);
  record.failed_at = failed_at(task.id);
  record.retries = retries_of(task);
  record.attempts = task.attempts;
  record.max_retries = task.spec.max_retries;
  record.last_error = task.last_error ? task.last_error->message : record.failure_reason;
  record.ended_at = task.ended_at;
  if (task.state == task::State::kPending) record.next_retry_at = task.due_at;
  // Its last run is what ended it, unless a person did.
  if (task.attempts > 0 &&
      (task.state == task::State::kSucceeded || task::needs_person(task.state))) {
    record.last_retry_at = task.ended_at;
  }
  return record;
}

bool needs_attempts(const Record& record) { return record.attempts > 0 && !record.last_retry_at; }

}  // namespace recourse::degrade
