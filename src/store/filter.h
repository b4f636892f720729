// Whether a task is what a filter asks for; what the SQL backends say in their WHERE.
#pragma once

#include <algorithm>

#include "store/work.h"
#include "task/record.h"

namespace recourse::store {

inline bool matches(const Filter& filter, const task::Task& task) {
  const task::TaskSpec& spec = task.spec;
  const auto is_key = [&](const auto& key) {
    const auto found = spec.search_keys.find(key.first);
    return found != spec.search_keys.end() && found->second == key.second;
  };
  return (filter.states.empty() || std::ranges::count(filter.states, task.state) > 0) &&
         (filter.kinds.empty() || std::ranges::count(filter.kinds, spec.kind) > 0) &&
         (!filter.tenant || *filter.tenant == spec.tenant) &&
         (!filter.unique_key || *filter.unique_key == spec.unique_key) &&
         (!filter.search_key || is_key(*filter.search_key)) &&
         (!filter.created_from || task.created_at >= *filter.created_from) &&
         (!filter.created_before || task.created_at < *filter.created_before);
}

// Created, and where it came before a person come there, no later than that.
inline bool is_member_as_of(const task::Task& task, TimePoint as_of) {
  return task.created_at <= as_of && (!task.ended_at || *task.ended_at <= as_of);
}

}  // namespace recourse::store
