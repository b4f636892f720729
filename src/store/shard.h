// Which bucket a shard key falls into. Stored with the task: the function must never change.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/limits.h"
#include "task/ids.h"

namespace recourse::store {

// FNV-1a, 32 bits.
constexpr int shard_of(const task::ShardKey& key) {
  std::uint32_t hash = 2166136261U;
  for (const char c : key.value) {
    hash ^= static_cast<std::uint8_t>(c);
    hash *= 16777619U;
  }
  return static_cast<int>(hash % kShards);
}

}  // namespace recourse::store
