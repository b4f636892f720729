// What happens on this node, as it happens, for whoever watches (server-sent events).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/core/happening.h"
#include "http/server.h"
#include "task/ids.h"

namespace recourse::api {

inline constexpr std::size_t kWatchersMax = 200;

// Safe to use from any thread.
class Feed {
 public:
  // False: too many watch already. A watcher of one tenant sees its tasks only.
  bool add(std::shared_ptr<http::Stream> watcher, std::optional<task::Tenant> tenant);
  // On the core's thread: costs nothing while nobody watches, and never waits.
  void tell(const engine::Happening& happening, TimePoint at);
  // So that proxies and browsers know that we live.
  void keep_alive();
  [[nodiscard]] std::size_t watchers() const { return count_; }

 private:
  struct Watcher {
    std::shared_ptr<http::Stream> stream;
    std::optional<task::Tenant> tenant;
  };

  void send(const std::string& piece, const std::optional<task::Tenant>& of);

  std::atomic<std::size_t> count_ = 0;
  Mutex mutex_;
  std::vector<Watcher> watchers_ GUARDED_BY(mutex_);
};

}  // namespace recourse::api
