// For tests: a channel that does what it is told, and waiting without sleeping.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "notify/channel.h"

namespace recourse::notify {

// Long enough for a busy machine; nobody waits so long where all is well.
inline constexpr std::chrono::seconds kPatience(30);

// Things that happened, in their order, on any thread.
template <class Thing>
class Happened {
 public:
  void add(Thing thing) {
    {
      const std::lock_guard lock(mutex_);
      all_.push_back(std::move(thing));
    }
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<Thing> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  // All of them once there are so many; fewer where patience ends first.
  std::vector<Thing> wait_for(std::size_t count) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return all_.size() >= count; });
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Thing> all_;
};

class FakeChannel final : public Channel {
 public:
  using Script = std::function<Result<>(const Notice&, const std::stop_token&)>;

  explicit FakeChannel(std::string name, Script script = nullptr, bool reaches_people = true)
      : name_(std::move(name)), script_(std::move(script)), reaches_people_(reaches_people) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool supports(const Notice& notice) const override {
    return notice.reason != "not for " + name_;
  }
  [[nodiscard]] bool reaches_people() const noexcept override { return reaches_people_; }
  Result<> send(const Notice& notice, std::stop_token stop) override {
    seen.add(notice);
    return script_ ? script_(notice, stop) : Result<>();
  }

  // What it was given, each try.
  Happened<Notice> seen;

 private:
  const std::string name_;
  const Script script_;
  const bool reaches_people_;
};

inline Result<> refuses(const Notice&, const std::stop_token&) {
  return fail(ErrorCode::kUnavailable, "it answered 500");
}

// Holds every send until open() or a stop.
class Gate {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  Result<> pass(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (changed_.wait(lock, stop, [this] { return open_; })) return {};
    return fail(ErrorCode::kUnavailable, "stopped");
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
};

}  // namespace recourse::notify
