#include "task/record.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"

namespace recourse::task {
namespace {

std::size_t bytes_of(const std::map<std::string, std::string>& entries) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : entries) bytes += key.size() + value.size();
  return bytes;
}

using Entry = std::pair<const std::string, std::string>;

bool is_search_key(const Entry& entry) {
  return !entry.first.empty() && entry.first.size() <= kKeyBytesMax &&
         entry.second.size() <= kKeyBytesMax && is_plain_text(entry.first) &&
         is_plain_text(entry.second);
}

// What HTTP takes for a name (RFC 9110, token) and a value: nothing can be smuggled in.
bool is_header(const Entry& entry) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !entry.first.empty() && entry.first.find_first_not_of(kToken) == std::string::npos &&
         is_plain_text(entry.second);
}

}  // namespace

bool is_trace_parent(std::string_view text) {
  constexpr std::string_view kForm = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
  return text.empty() || std::ranges::equal(text, kForm, [](char given, char form) {
           const bool hex = (given >= '0' && given <= '9') || (given >= 'a' && given <= 'f');
           return form == 'h' ? hex : given == form;
         });
}

std::size_t size_of(const TaskSpec& spec) {
  std::size_t bytes = spec.payload.size();
  for (const auto& [name, value] : spec.headers) bytes += name.size() + value.size();
  for (const auto& [name, value] : spec.search_keys) bytes += name.size() + value.size();
  return bytes;
}

Result<> validate(const TaskSpec& spec) {
  using namespace std::chrono_literals;
  constexpr std::size_t kNone = 0;
  constexpr std::string_view kPlain = "must be valid UTF-8 without control characters";
  return FieldChecks("task")
      .between("kind (bytes)", spec.kind.value.size(), std::size_t{1}, kKindBytesMax)
      .require(is_plain_text(spec.kind.value), "kind", kPlain)
      .between("tenant (bytes)", spec.tenant.value.size(), kNone, kKeyBytesMax)
      .require(is_plain_text(spec.tenant.value), "tenant", kPlain)
      .between("shard_key (bytes)", spec.shard_key.value.size(), kNone, kKeyBytesMax)
      .require(is_plain_text(spec.shard_key.value), "shard_key", kPlain)
      .between("unique_key (bytes)", spec.unique_key.value.size(), kNone, kKeyBytesMax)
      .require(is_plain_text(spec.unique_key.value), "unique_key", kPlain)
      .between("priority", spec.priority, 0, kPriorityMax)
      .between("payload (bytes)", spec.payload.size(), kNone, kPayloadBytesMax)
      .between("headers (count)", spec.headers.size(), kNone, kHeaderCountMax)
      .between("headers (bytes)", bytes_of(spec.headers), kNone, kHeaderBytesMax)
      .require(std::ranges::all_of(spec.headers, is_header), "headers",
               "must have HTTP header names, and values without control characters")
      .require(is_trace_parent(spec.trace_parent), "trace_parent",
               "must be a W3C traceparent such as "
               "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
      .between("search_keys (count)", spec.search_keys.size(), kNone, kSearchKeyCountMax)
      .require(std::ranges::all_of(spec.search_keys, is_search_key), "search_keys",
               "must have a name, and plain text of at most 255 bytes in each name and value")
      .between("max_retries", spec.max_retries, 0, kRetriesMax)
      .between<Duration>("timeout", spec.timeout, 1ms, 24h)
      .between("backoff (bytes)", spec.backoff.size(), kNone, kKeyBytesMax)
      .require(is_plain_text(spec.backoff), "backoff", kPlain)
      .result();
}

}  // namespace recourse::task
