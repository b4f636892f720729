#include "task/record.h"

#include <algorithm>

#include "base/field_checks.h"

namespace recourse::task {
namespace {

std::size_t bytes_of(const std::map<std::string, std::string>& entries) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : entries) bytes += key.size() + value.size();
  return bytes;
}

bool fits_an_index(const std::map<std::string, std::string>& keys) {
  return std::ranges::all_of(keys, [](const auto& entry) {
    return !entry.first.empty() && entry.first.size() <= kKeyBytesMax &&
           entry.second.size() <= kKeyBytesMax;
  });
}

}  // namespace

Result<> validate(const TaskSpec& spec) {
  using std::chrono_literals::operator""h;
  using std::chrono_literals::operator""ms;
  constexpr std::size_t kNone = 0;
  return FieldChecks("task")
      .between("kind (bytes)", spec.kind.value.size(), std::size_t{1}, kKindBytesMax)
      .between("tenant (bytes)", spec.tenant.value.size(), kNone, kKeyBytesMax)
      .between("shard_key (bytes)", spec.shard_key.value.size(), kNone, kKeyBytesMax)
      .between("unique_key (bytes)", spec.unique_key.value.size(), kNone, kKeyBytesMax)
      .between("priority", spec.priority, 0, kPriorityMax)
      .between("payload (bytes)", spec.payload.size(), kNone, kPayloadBytesMax)
      .between("headers (count)", spec.headers.size(), kNone, kHeaderCountMax)
      .between("headers (bytes)", bytes_of(spec.headers), kNone, kHeaderBytesMax)
      .between("trace_parent (bytes)", spec.trace_parent.size(), kNone, kKeyBytesMax)
      .between("search_keys (count)", spec.search_keys.size(), kNone, kSearchKeyCountMax)
      .require(fits_an_index(spec.search_keys), "search_keys",
               "must have a name and at most 255 bytes in each name and value")
      .between("max_retries", spec.max_retries, 0, kRetriesMax)
      .between<Duration>("timeout", spec.timeout, 1ms, 24h)
      .between("backoff (bytes)", spec.backoff.size(), kNone, kKeyBytesMax)
      .result();
}

}  // namespace recourse::task
