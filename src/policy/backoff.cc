#include "policy/backoff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"

namespace recourse::policy {
namespace {

Duration fixed(Duration base, int) { return base; }

Duration linear(Duration base, int retry) { return saturating_multiply(base, retry); }

Duration exponential(Duration base, int retry) {
  constexpr int kDoublingsMax = 62;
  return saturating_multiply(base, Duration::rep{1} << std::clamp(retry - 1, 0, kDoublingsMax));
}

bool is_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

struct Range {
  Duration low;
  Duration high;
};

Range reach_of_jitter(Duration delay, const BackoffSettings& settings) {
  switch (settings.jitter) {
    case Jitter::kNone: return {delay, delay};
    case Jitter::kRatio: {
      const Duration reach = saturating_scale(delay, settings.jitter_ratio);
      return {delay - reach, delay + reach};
    }
    case Jitter::kEqual: return {delay / 2, delay};
    case Jitter::kFull: return {Duration::zero(), delay};
  }
  std::abort();
}

}  // namespace

Result<> validate(const BackoffSettings& settings) {
  using namespace std::chrono_literals;
  return FieldChecks("backoff")
      .between<Duration>("base", settings.base, 1ms, kLongestWait)
      .between<Duration>("min", settings.min, Duration::zero(), kLongestWait)
      .between<Duration>("max", settings.max, 1ms, kLongestWait)
      .require(settings.min <= settings.max, "min",
               fmt::format("({}) must not be more than backoff.max ({})",
                           format_duration(settings.min), format_duration(settings.max)))
      .between("jitter_ratio", settings.jitter_ratio, 0.0, 1.0)
      .result();
}

BackoffRegistry::BackoffRegistry()
    : strategies_{{"fixed", {fixed}},
                  {"linear", {linear}},
                  {"exponential", {exponential}},
                  {"message", {exponential, false}}} {}

Result<> BackoffRegistry::add(std::string name, Curve curve) {
  if (!is_name(name)) {
    return fail(ErrorCode::kInvalid,
                "backoff.strategy must be 1 to 64 of a-z, A-Z, 0-9, '-', '_' and '.' to be added");
  }
  if (!curve)
    return fail(ErrorCode::kInvalid, fmt::format("backoff.strategy {} has no curve", name));
  const auto [place, added] = strategies_.try_emplace(std::move(name), Strategy{std::move(curve)});
  if (added) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("backoff.strategy {} exists already: choose another name", place->first));
}

std::vector<std::string> BackoffRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, strategy] : strategies_) names.push_back(name);
  return names;
}

Result<Backoff> Backoff::make(const BackoffRegistry& registry, const BackoffSettings& settings) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  const auto found = registry.strategies_.find(settings.strategy);
  if (found == registry.strategies_.end()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("backoff.strategy must be one of {}, not {}",
                            fmt::join(registry.names(), ", "), shown(settings.strategy)));
  }
  BackoffSettings effective = settings;
  if (!found->second.jittered) effective.jitter = Jitter::kNone;
  return Backoff(found->second.curve, std::move(effective));
}

Backoff::Backoff(Curve curve, BackoffSettings settings)
    : curve_(std::move(curve)), settings_(std::move(settings)) {}

Duration Backoff::before_jitter(int retry) const {
  try {
    return std::clamp(curve_(settings_.base, std::max(retry, 1)), settings_.min, settings_.max);
  } catch (...) {
    // A user's curve; a task must not be lost to it, so it waits as long as it ever would.
    return settings_.max;
  }
}

// Drawn from what is left of the reach within the bounds: cutting the drawn value instead would
// send half of a crowd that waits the longest back at the same moment.
Duration Backoff::delay(int retry, Rng& rng) const {
  const Range reach = reach_of_jitter(before_jitter(retry), settings_);
  return rng.between(std::max(reach.low, settings_.min), std::min(reach.high, settings_.max));
}

}  // namespace recourse::policy
