#include "http/retry_after.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace recourse::http {

std::optional<Duration> parse_retry_after(std::string_view text, TimePoint now) {
  constexpr auto kMax = std::chrono::duration_cast<std::chrono::seconds>(kLongestWait);
  if (text.empty()) return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    // More digits than a number has: longer than anybody waits.
    if (error != std::errc()) return kLongestWait;
    return std::min(std::chrono::seconds(seconds), kMax);
  }
  // Every form of a date names its month.
  constexpr std::string_view kDigitsAndSigns = "0123456789+-.:, ";
  if (text.find_first_not_of(kDigitsAndSigns) == std::string_view::npos) return std::nullopt;
  const std::time_t at = curl_getdate(std::string(text).c_str(), nullptr);
  if (at == -1) return std::nullopt;
  const TimePoint date{std::chrono::seconds(at)};
  return std::clamp<Duration>(date - now, Duration::zero(), kLongestWait);
}

}  // namespace recourse::http
