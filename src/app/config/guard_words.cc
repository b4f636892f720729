#include "app/config/guard_words.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace recourse::app {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

// Longer ones before those that they begin with.
constexpr auto kWords = std::to_array<Words>({
    {"guard.table", "table"},
    {"guard.id_field", "id-field"},
    {"guard.user_field", "user-field"},
    {"guard.status_field", "status-field"},
    {"guard.success_value", "success-value"},
    {"guard.fail_value", "fail-value"},
    {"guard.service_name", "service-name"},
    {"guard.manual_success_route", "manual-success-route"},
    {"guard.min_interval", "min-interval-seconds"},
    {"guard.timeout_window", "timeout-seconds"},
    {"guard.max_retries", "max-retry-count"},
    {"guard.remind_every", "manual-remind-interval-seconds"},
    {"guard.scan_every", "scan-interval-seconds"},
    {"guard.attempt_timeout", "attempt-timeout"},
    {"guard.time_zone", "time-zone"},
    {"than id_field", "than id-field"},
    {"than success_value", "than success-value"},
});

}  // namespace

std::string in_words_of_file(std::string message) {
  for (const auto& [program, file] : kWords) {
    for (std::size_t at = 0; (at = message.find(program, at)) != std::string::npos;
         at += file.size()) {
      message.replace(at, program.size(), file);
    }
  }
  return message;
}

}  // namespace recourse::app
