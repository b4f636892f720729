// How many messages of a kind are unfinished, asked of the store at most once a second for all
// consumers together.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "store/reader.h"

namespace recourse::app {

class MessageBacklog {
 public:
  // The reader must outlive it.
  explicit MessageBacklog(store::Reader& reader) : reader_(reader) {}

  // While the store does not answer, as it was last known.
  bool has_reached(const std::string& kind, std::size_t limit);

 private:
  using Clock = std::chrono::steady_clock;
  void refresh() EXCLUDES(mutex_);

  store::Reader& reader_;
  Mutex mutex_;
  std::optional<Clock::time_point> asked_at_ GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> unfinished_ GUARDED_BY(mutex_);
};

}  // namespace recourse::app
