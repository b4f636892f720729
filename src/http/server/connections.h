// The connections of one server, so that a stop finds them all and knows when the last is gone.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace recourse::http {

class Connection;

// Safe to use from any thread.
class Connections {
 public:
  // False: the server stops, and takes no more.
  bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection& connection);
  struct Count {
    std::size_t served = 0;
    std::size_t turned_away = 0;  // and not yet gone
  };
  [[nodiscard]] Count count() const;

  // Lets none in any more, and asks all to end when nothing is under way on them.
  void finish();
  void cut();
  // False when the limit passed first.
  bool wait_until_empty(Duration limit);

 private:
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() const;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  bool is_closed_ GUARDED_BY(mutex_) = false;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> open_ GUARDED_BY(mutex_);
  std::size_t turned_away_ GUARDED_BY(mutex_) = 0;
};

}  // namespace recourse::http
