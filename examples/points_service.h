// A points service as others run it: sometimes it is down, and it grants once per id, because
// whoever did not hear its answer asks again.
#pragma once

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

class PointsService {
 public:
  // The balance afterwards. Throws while it is down.
  int grant(const std::string& id, const std::string& member, int amount) {
    const std::lock_guard lock(mutex_);
    if (is_down_) throw std::runtime_error("points service is down");
    if (granted_.emplace(id, amount).second) balances_[member] += amount;
    return balances_[member];
  }
  void expire(const std::string& id, const std::string& member, int amount) {
    const std::lock_guard lock(mutex_);
    if (granted_.emplace(id, -amount).second) balances_[member] -= amount;
  }

  void set_down(bool down) {
    const std::lock_guard lock(mutex_);
    is_down_ = down;
  }
  int balance_of(const std::string& member) {
    const std::lock_guard lock(mutex_);
    return balances_[member];
  }

 private:
  std::mutex mutex_;
  bool is_down_ = false;
  std::map<std::string, int> granted_;
  std::map<std::string, int> balances_;
};
