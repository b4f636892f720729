// An id that a caller gives to a new task. One from the far future would stand before everything
// else in all lists, and no time that can be written down finds it.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "task/ids.h"

namespace recourse::task {

// Clocks disagree by less.
inline constexpr Duration kIdAheadMax = std::chrono::hours(24);

inline bool is_too_far_ahead(TaskId id, TimePoint now) {
  return created_at(id.value) > saturating_add(now, kIdAheadMax);
}

inline Result<TaskId> parse_new_task_id(std::string_view field, std::string_view text,
                                        TimePoint now) {
  Result<TaskId> id = parse_task_id(field, text);
  if (!id || !is_too_far_ahead(*id, now)) return id;
  return fail(ErrorCode::kInvalid,
              fmt::format("{} has a time more than a day ahead of the clock in it: {}", field,
                          shown(text)));
}

}  // namespace recourse::task
