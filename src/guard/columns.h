// The nine columns that a guard keeps in the table it watches (GUARD-2).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace recourse::guard {

enum class GuardColumnSort : std::uint8_t { kNumber, kTime };

struct GuardColumn {
  std::string_view name;
  GuardColumnSort sort;
  // For whoever looks at the table.
  std::string_view comment;
};

inline constexpr std::array kGuardColumns{
    GuardColumn{
        "err_status", GuardColumnSort::kNumber,
        "异常主状态 (recovery: 2000 normal, 4000 retrying, 4001 needs a person, 2001 healed, "
        "2002 healed by a person)"},
    GuardColumn{"err_start_time", GuardColumnSort::kTime, "首次异常时间 (first error)"},
    GuardColumn{"err_retry_count", GuardColumnSort::kNumber, "已重试次数 (retries so far)"},
    GuardColumn{"err_next_retry_time", GuardColumnSort::kTime,
                "下次允许自动重试时间 (no retry before)"},
    GuardColumn{"err_min_interval", GuardColumnSort::kNumber,
                "最小重试间隔（秒） (shortest interval, seconds)"},
    GuardColumn{"err_timeout", GuardColumnSort::kNumber,
                "最大处理窗口（秒） (window for retries, seconds)"},
    GuardColumn{"err_submit_manual_status", GuardColumnSort::kNumber,
                "人工处理状态 (person: 2000 told, 4000 telling failed, 4002 handled)"},
    GuardColumn{"err_next_remind_staff_time", GuardColumnSort::kTime,
                "下次提醒人工时间 (next reminder)"},
    GuardColumn{"err_manual_notify_count", GuardColumnSort::kNumber,
                "通知人工次数 (reminders so far)"},
};

// Whatever its case: two of the three databases do not tell them apart.
bool is_guard_column(std::string_view name);

// As two of the three databases compare names.
bool same_name_in_any_case(std::string_view one, std::string_view other);

}  // namespace recourse::guard
