#include "app/notify_errors.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace recourse::app {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kKeyOf{
    {{"dispatch.threads_core", "retry.notify.async.core-pool-size"},
     {"dispatch.threads_max", "retry.notify.async.max-pool-size"},
     {"dispatch.queue_max", "retry.notify.async.queue-capacity"},
     {"dispatch.keep_alive", "retry.notify.async.keep-alive"},
     {"rate_limit.", "retry.notify.rate-limit."},
     {"router.", "notify."},
     {"quiet_hours.", "notify.quiet-hours."},
     {"masking.", "notify.masking."},
     {"reminders.", "notify.reminders."}}};

// Where a complaint begins: FieldChecks puts several into one error, with this between them.
constexpr std::string_view kBetween = "; ";

std::string renamed(std::string text, std::string_view own, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (std::string_view(text).substr(at).starts_with(own)) {
      text.replace(at, own.size(), key);
      at += key.size();
    }
    const std::size_t next = text.find(kBetween, at);
    at = next == std::string::npos ? text.size() : next + kBetween.size();
  }
  return text;
}

}  // namespace

Error in_keys(const std::string& name, ChannelType type, const Error& error) {
  const std::string key = "notify.channels." + name;
  std::string text =
      renamed(error.message, fmt::format("{}.", to_string(type)), fmt::format("{}.", key));
  if (!text.starts_with(key)) text.insert(0, fmt::format("{}: ", key));
  return {error.code, std::move(text)};
}

Error in_keys(const Error& error) {
  std::string text = error.message;
  for (const auto& [own, key] : kKeyOf) text = renamed(std::move(text), own, key);
  return {error.code, std::move(text)};
}

}  // namespace recourse::app
