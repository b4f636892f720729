// Three ways to keep timers, behind one set of names, so that all run the same benchmark.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <thread>
#include <vector>

#include "base/time.h"
#include "timing/timing_wheel.h"

namespace recourse::bench {

// Each: add(i, delay) schedules timer i, cancel(i) takes it out, settle() finishes what cancelling
// left to do, drain() fires everything in order of time and says how long that took.
inline constexpr TimePoint kStart{std::chrono::seconds(1'700'000'000)};

using Stopwatch = std::chrono::steady_clock;

class Wheel {
 public:
  static constexpr const char* kName = "wheel";

  explicit Wheel(std::size_t count) : timers_(count), wheel_(kStart, {.max_pending = 4'000'000}) {}

  void add(std::size_t i, Duration delay) { added_ &= wheel_.schedule(timers_[i], now_ + delay); }
  void cancel(std::size_t i) { wheel_.cancel(timers_[i]); }
  void settle() {}

  std::chrono::duration<double> drain() {
    const auto begin = Stopwatch::now();
    while (const auto wakeup = wheel_.next_wakeup()) {
      now_ = *wakeup;
      wheel_.advance_to(now_, [this](timing::Timer&) { ++fired_; });
    }
    return Stopwatch::now() - begin;
  }

  [[nodiscard]] std::size_t fired() const { return added_ ? fired_ : 0; }

 private:
  std::vector<timing::Timer> timers_;
  timing::TimingWheel wheel_;
  TimePoint now_ = kStart;
  std::size_t fired_ = 0;
  bool added_ = true;
};

class Multimap {
 public:
  static constexpr const char* kName = "std::multimap";

  explicit Multimap(std::size_t count) : places_(count) {}

  void add(std::size_t i, Duration delay) { places_[i] = timers_.emplace(now_ + delay, i); }
  void cancel(std::size_t i) { timers_.erase(places_[i]); }
  void settle() {}

  std::chrono::duration<double> drain() {
    const auto begin = Stopwatch::now();
    while (!timers_.empty()) {
      now_ = timers_.begin()->first;
      timers_.erase(timers_.begin());
      ++fired_;
    }
    return Stopwatch::now() - begin;
  }

  [[nodiscard]] std::size_t fired() const { return fired_; }

 private:
  std::multimap<TimePoint, std::size_t> timers_;
  std::vector<std::multimap<TimePoint, std::size_t>::iterator> places_;
  TimePoint now_ = kStart;
  std::size_t fired_ = 0;
};

// It has only the real clock, so drain() waits until all are due before it starts to count.
class Asio {
 public:
  static constexpr const char* kName = "asio::steady_timer";

  explicit Asio(std::size_t count) {
    timers_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) timers_.emplace_back(context_);
  }

  void add(std::size_t i, Duration delay) {
    latest_ = std::max(latest_, start_ + delay);
    timers_[i].expires_at(start_ + delay);
    timers_[i].async_wait([this](boost::system::error_code error) { fired_ += error ? 0U : 1U; });
  }
  void cancel(std::size_t i) { timers_[i].cancel(); }
  void settle() {
    context_.restart();
    context_.poll();
  }

  std::chrono::duration<double> drain() {
    std::this_thread::sleep_until(latest_);
    context_.restart();
    const auto begin = Stopwatch::now();
    context_.run();
    return Stopwatch::now() - begin;
  }

  [[nodiscard]] std::size_t fired() const { return fired_; }

 private:
  boost::asio::io_context context_{1};
  std::vector<boost::asio::steady_timer> timers_;
  Stopwatch::time_point start_ = Stopwatch::now();
  Stopwatch::time_point latest_ = start_;
  std::size_t fired_ = 0;
};

}  // namespace recourse::bench
