#include "http/server/connections.h"

#include <chrono>
#include <utility>

#include "http/server/connection.h"

namespace recourse::http {

bool Connections::add(const std::shared_ptr<Connection>& connection) {
  MutexLock lock(mutex_);
  if (is_closed_) return false;
  open_.emplace(connection.get(), connection);
  if (!connection->is_served()) ++turned_away_;
  return true;
}

void Connections::remove(const Connection& connection) {
  MutexLock lock(mutex_);
  if (open_.erase(&connection) > 0 && !connection.is_served()) --turned_away_;
  // Under the lock: who waits for the last one may take this away as soon as it is let go.
  if (open_.empty()) changed_.notify_all();
}

Connections::Count Connections::count() const {
  MutexLock lock(mutex_);
  return {.served = open_.size() - turned_away_, .turned_away = turned_away_};
}

std::vector<std::shared_ptr<Connection>> Connections::all() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(open_.size());
  for (const auto& [address, weak] : open_) {
    if (std::shared_ptr<Connection> connection = weak.lock()) all.push_back(std::move(connection));
  }
  return all;
}

void Connections::finish() {
  {
    MutexLock lock(mutex_);
    is_closed_ = true;
  }
  for (const std::shared_ptr<Connection>& connection : all()) connection->finish();
}

void Connections::cut() {
  for (const std::shared_ptr<Connection>& connection : all()) connection->cut();
}

bool Connections::wait_until_empty(Duration limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  MutexLock lock(mutex_);
  while (!open_.empty()) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) return open_.empty();
  }
  return true;
}

}  // namespace recourse::http
