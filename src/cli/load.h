// Load on a server: so many calls at once, the next whenever one has ended.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/time.h"
#include "http/client.h"

namespace recourse::cli {

struct LoadPlan {
  std::size_t calls = 0;
  std::size_t at_once = 1;
  // The n-th of them, from 0. On the client's thread, as `answered`.
  std::function<http::Call(std::size_t n)> make;
  // Those answered with 2xx.
  std::function<void(const http::Answer&)> answered = nullptr;
};

struct LoadResult {
  // Of the calls answered with 2xx, the shortest first.
  std::vector<Duration> took = {};
  Duration elapsed{};
  // The first that was not; there are no calls after it.
  std::optional<http::CallResult> refusal = std::nullopt;

  // How long the q-th part of them took at most: 0.5 for the median. Zero where there are none.
  [[nodiscard]] Duration quantile(double q) const;
  // So many a second, where each call did `per_call` things.
  [[nodiscard]] double rate(std::size_t per_call = 1) const;
};

// Waits until all have ended. Not on the client's own thread.
LoadResult run_load(http::Client& client, LoadPlan plan);

}  // namespace recourse::cli
