// What a handler does this time: drawn when it is called.
#pragma once

#include <optional>

#include "base/rng.h"
#include "base/time.h"
#include "engine/core/event.h"
#include "sim/coverage.h"
#include "sim/plan.h"
#include "task/record.h"

namespace recourse::sim {

inline constexpr const char* kPoison = "poison";

struct Script {
  Duration takes{};
  engine::AttemptResult result = engine::Succeeded{};
  // Ends soon after it is told to; the others go on.
  bool obeys = true;
  // Says that it succeeded, whatever it was told.
  bool lies = false;
  // Takes its process with it.
  bool kills = false;
  std::optional<Fault> fault;
};

// In the quiet period handlers may still fail, but they end in time and say what they mean.
Script draw_script(const task::Task& task, const Plan& plan, bool quiet, Rng& rng);

}  // namespace recourse::sim
