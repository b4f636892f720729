// One of the five fields of a cron expression, read.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace recourse::timing {

struct CronField {
  std::string_view name;
  int low = 0;
  int high = 0;
  // The first one is `low`; empty where there are numbers only.
  std::span<const std::string_view> names;
};

// In the order of the expression.
extern const std::array<CronField, 5> kCronFields;

// A bit for each value that the text allows; sunday is bit 0 and bit 7. The error names the field,
// the part that is wrong, and what is allowed.
Result<std::uint64_t> parse_cron_field(const CronField& field, std::string_view text);

}  // namespace recourse::timing
