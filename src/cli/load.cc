#include "cli/load.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <utility>
#include <variant>

#include "base/mutex.h"

namespace recourse::cli {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

Duration since(SteadyTime start) {
  return std::chrono::duration_cast<Duration>(steady_now() - start);
}

bool is_good(const http::CallResult& result) {
  const auto* answer = std::get_if<http::Answer>(&result);
  return answer != nullptr && answer->status >= 200 && answer->status < 300;
}

// Begun on the caller's thread, continued on the client's. Each call keeps it alive: the last one
// tells the caller while it is still in here.
class Load : public std::enable_shared_from_this<Load> {
 public:
  Load(http::Client& client, LoadPlan plan) : client_(client), plan_(std::move(plan)) {}

  LoadResult run() {
    const SteadyTime start = steady_now();
    const std::size_t lanes = std::min(plan_.at_once, plan_.calls);
    for (std::size_t i = 0; i < lanes; ++i) next();
    if (lanes > 0) over_.get_future().wait();
    const MutexLock lock(mutex_);
    result_.elapsed = since(start);
    std::ranges::sort(result_.took);
    return std::move(result_);
  }

 private:
  void next() {
    std::size_t n = 0;
    {
      const MutexLock lock(mutex_);
      if (result_.refusal || begun_ == plan_.calls) return;
      n = begun_++;
    }
    const SteadyTime start = steady_now();
    client_.send(plan_.make(n), [self = shared_from_this(), start](http::CallResult call) {
      const bool good = is_good(call);
      if (good && self->plan_.answered) self->plan_.answered(std::get<http::Answer>(call));
      if (self->note(good, since(start), std::move(call))) return self->over_.set_value();
      self->next();
    });
  }

  // True: that was the last.
  bool note(bool good, Duration took, http::CallResult call) {
    const MutexLock lock(mutex_);
    ++ended_;
    if (good) {
      result_.took.push_back(took);
    } else if (!result_.refusal) {
      result_.refusal = std::move(call);
    }
    return ended_ == begun_ && (result_.refusal || begun_ == plan_.calls);
  }

  http::Client& client_;
  const LoadPlan plan_;
  std::promise<void> over_;
  Mutex mutex_;
  std::size_t begun_ GUARDED_BY(mutex_) = 0;
  std::size_t ended_ GUARDED_BY(mutex_) = 0;
  LoadResult result_ GUARDED_BY(mutex_);
};

}  // namespace

Duration LoadResult::quantile(double q) const {
  if (took.empty()) return {};
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(took.size())));
  return took[std::clamp<std::size_t>(rank, 1, took.size()) - 1];
}

double LoadResult::rate(std::size_t per_call) const {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  return seconds > 0 ? static_cast<double>(took.size() * per_call) / seconds : 0;
}

LoadResult run_load(http::Client& client, LoadPlan plan) {
  return std::make_shared<Load>(client, std::move(plan))->run();
}

}  // namespace recourse::cli
