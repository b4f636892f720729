// A guarded row as it stands in its table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"

namespace recourse::guard {

// Numbers or text, as the table has them.
using RowId = std::variant<std::int64_t, std::string>;

std::string to_string(const RowId& id);

// err_status
enum class ErrStatus : std::int32_t {
  kNormal = 2000,
  kHealedItself = 2001,
  kHealedByPerson = 2002,
  kWaiting = 4000,  // for its next retry
  kNeedsPerson = 4001,
};

// err_submit_manual_status
enum class ManualStatus : std::int32_t {
  kTold = 2000,
  kNotTold = 4000,
  kHandled = 4002,
};

// What the nine columns and the business status say. Numbers that stand for nothing known are kept
// as they are, and never touched.
struct Row {
  RowId id;
  // Empty: NULL.
  std::optional<std::string> business_status = std::nullopt;
  std::optional<std::int32_t> err_status = std::nullopt;
  std::optional<TimePoint> start_time = std::nullopt;
  int retries = 0;
  std::optional<TimePoint> next_retry = std::nullopt;
  // Where they are set they win over the guard's.
  std::optional<Duration> min_interval = std::nullopt;
  std::optional<Duration> timeout = std::nullopt;
  std::optional<std::int32_t> manual_status = std::nullopt;
  std::optional<TimePoint> next_remind = std::nullopt;
  int notify_count = 0;

  friend bool operator==(const Row&, const Row&) = default;
};

}  // namespace recourse::guard
