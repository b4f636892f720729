#include "notify/log_channel.h"

#include <cstdlib>
#include <vector>

#include "base/rfc3339.h"
#include "base/text.h"

namespace recourse::notify {
namespace {

LogLevel level_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return LogLevel::kInfo;
    case Severity::kWarning: return LogLevel::kWarning;
    case Severity::kError:
    case Severity::kCritical: return LogLevel::kError;
  }
  std::abort();
}

}  // namespace

Result<> LogChannel::send(const Notice& notice, std::stop_token) {
  std::vector<LogField> fields{{"notice_event", std::string(to_string(notice.event))},
                               {"severity", std::string(to_string(severity_of(notice)))}};
  const auto add = [&fields](std::string_view key, std::string value) {
    if (!value.empty()) fields.push_back({key, std::move(value)});
  };
  const auto add_number = [&](std::string_view key, std::int64_t number) {
    if (number > 0) add(key, std::to_string(number));
  };
  add("notice", notice.id);
  add("kind", notice.kind.value);
  if (notice.task) add("task", task::to_string(*notice.task));
  add("tenant", notice.tenant.value);
  add_number("retries", notice.retries);
  add_number("max_retries", notice.max_retries);
  add("reason", notice.reason);
  add("error", one_line(notice.last_error, kErrorCharactersMax));
  add("node", notice.node);
  add("happened_at", format_rfc3339(notice.at));
  add_number("reminder", notice.reminder);
  add_number("more", notice.more);
  add("link", notice.link);
  for (const auto& [name, value] : notice.attributes) add(name, value);
  log_.write(level_of(severity_of(notice)), "notification", fields);
  return {};
}

}  // namespace recourse::notify
