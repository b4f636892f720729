// What a Guard holds.
#pragma once

#include <atomic>
#include <chrono>

#include "guard/guard.h"
#include "recourse/guard.h"

namespace recourse {

struct Guard::Impl {
  // Of one call by business code.
  static constexpr Duration kPatience = std::chrono::seconds(10);

  explicit Impl(GuardOptions given) : options(std::move(given)) {}

  // kInvalid where the guard has no engine that was started.
  Result<guard::Guard*> running() const;
  Result<int> mark(const RowId& id, const std::optional<std::string>& user) const;

  const GuardOptions options;
  // Set by start(): its engine's, which outlives every use.
  std::atomic<guard::Guard*> started = nullptr;
};

}  // namespace recourse
