// The built-in filters: what is wanted at all, when, and how much of it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/time_zone.h"
#include "notify/filter.h"

namespace recourse::notify {

// An empty list allows all.
struct AllowSettings {
  std::vector<Event> events = {};
  // A kind, or `orders.*` for all that begin so. Events of no kind pass.
  std::vector<std::string> kinds = {};
  // Events of no tenant pass.
  std::vector<std::string> tenants = {};
  Severity from = Severity::kInfo;
};

class AllowFilter final : public Filter {
 public:
  explicit AllowFilter(AllowSettings settings) : settings_(std::move(settings)) {}

  Verdict judge(const Notice& notice, Now now) override;

 private:
  AllowSettings settings_;
};

// From one time of day to another, `22:00` to `07:30`; over midnight where the end is earlier.
struct QuietRange {
  Duration begin{};
  Duration end{};
};

// `22:00-07:30`. The two ends differ.
Result<QuietRange> parse_quiet_range(std::string_view field, std::string_view text);

struct QuietSettings {
  std::vector<QuietRange> ranges = {};
  // `Asia/Shanghai`
  std::string zone = "UTC";
  // What matters this much or more wakes people up.
  Severity not_from = Severity::kCritical;
};

Result<> validate(const QuietSettings& settings);

// Holds back until the range ends; on days on which the clocks change, by the clock at its end.
class QuietHours final : public Filter {
 public:
  static Result<QuietHours> make(const QuietSettings& settings);

  Verdict judge(const Notice& notice, Now now) override;

 private:
  QuietHours(QuietSettings settings, TimeZone zone)
      : settings_(std::move(settings)), zone_(std::move(zone)) {}
  // By the wall clock; nothing where it is not quiet then.
  [[nodiscard]] std::optional<TimePoint> quiet_until(TimePoint wall) const;

  QuietSettings settings_;
  TimeZone zone_;
};

// What a setting may be at most; the configuration says the same.
inline constexpr Duration kWindowMax = std::chrono::hours(24);
inline constexpr int kThresholdMax = 1'000'000;

struct RateLimitSettings {
  Duration window = std::chrono::seconds(30);
  // So many of one event and kind go out within a window; a window begins with its first.
  int threshold = 50;
};

Result<> validate(const RateLimitSettings& settings);

class RateLimit final : public Filter {
 public:
  // Kinds beyond so many share one window an event: names come from outside, memory is ours.
  static constexpr std::size_t kWindowsMax = 1'000;

  // The settings must be valid.
  explicit RateLimit(const RateLimitSettings& settings);

  Verdict judge(const Notice& notice, Now now) override;

  [[nodiscard]] std::size_t windows() const { return windows_.size(); }

 private:
  struct Window {
    TimePoint ends;
    int passed = 0;
  };
  Window& window_of(const Notice& notice, TimePoint now);

  RateLimitSettings settings_;
  std::map<std::pair<Event, std::string>, Window> windows_;
};

}  // namespace recourse::notify
