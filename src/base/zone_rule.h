// The rule that goes on for ever at the end of a zone file, as POSIX writes it:
// `CET-1CEST,M3.5.0,M10.5.0/3`.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace recourse {

class ZoneRule {
 public:
  // Nothing where it is none.
  static std::optional<ZoneRule> parse(std::string_view text);

  [[nodiscard]] std::chrono::seconds offset_at(std::chrono::sys_seconds moment) const;

 private:
  enum class DayType { kJulian, kZeroBased, kMonthWeek };
  // A day of every year, and the moment of it by the clock that ends then.
  struct Change {
    DayType type = DayType::kJulian;
    int month = 0;
    int week = 0;
    int day = 0;
    std::chrono::seconds time = std::chrono::hours(2);
  };
  class Reader;

  static std::chrono::sys_seconds moment_of(const Change& change, std::chrono::year year,
                                            std::chrono::seconds offset);

  std::chrono::seconds standard_{};
  std::chrono::seconds summer_{};
  bool has_summer_ = false;
  Change begins_;
  Change ends_;
};

}  // namespace recourse
