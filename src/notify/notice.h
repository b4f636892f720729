// One thing to tell a person.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "notify/event.h"
#include "task/ids.h"

namespace recourse::notify {

class Masker;

struct Notice {
  // The same whenever the same thing is told again, by a retry or after a restart, so that a
  // receiver can tell it from news. Whoever noticed it gives it; each reminder has one of its own.
  std::string id = {};
  Event event = Event::kTest;
  // Empty: what the settings say of the event.
  std::optional<Severity> severity = std::nullopt;
  std::string node = {};
  task::Kind kind = {};
  std::optional<task::TaskId> task = std::nullopt;
  task::Tenant tenant = {};
  int retries = 0;
  int max_retries = 0;
  // A word for programs, such as `timeout` or `no_handler`.
  std::string reason = {};
  std::string last_error = {};
  TimePoint at = {};
  // 0: the first time. Then how often somebody was reminded.
  int reminder = 0;
  // Further ones that this message stands for: held back, of the same event and kind.
  std::int64_t more = 0;
  // Shard, owner, fence, next trigger time, an alert's figure and limit...
  std::map<std::string, std::string> attributes = {};
  // Names of those attributes whose values are ids, by which a person looks something up.
  std::set<std::string> ids = {};
  // Where a person sees the task. http or https; anything else is left out.
  std::string link = {};
};

constexpr Severity severity_of(const Notice& notice) {
  return notice.severity.value_or(default_severity(notice.event));
}

inline constexpr std::size_t kAttributesMax = 30;
inline constexpr std::size_t kAttributeCharactersMax = 500;
inline constexpr std::size_t kNameCharactersMax = 255;

// Drops what no message would show, so that notices may wait by the thousand, whoever made them.
void bound(Notice& notice);

// Fit to leave the process: secrets masked (ids are whole: see Masker::masked_id), valid UTF-8,
// every text cut to its bound; the last error at 4,000 characters, after masking, so that no half
// of a secret is left at the cut.
Notice fit_to_send(const Notice& notice, const Masker& masker);

}  // namespace recourse::notify
