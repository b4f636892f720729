#include "embed/guard_notice.h"

#include <cstdlib>
#include <utility>

namespace recourse::embed {

notify::Notice notice_of(const guard::Reminder& reminder, const std::string& node) {
  const guard::Row& row = reminder.row;
  const bool ran_out = row.retries >= reminder.settings.max_retries;
  notify::Notice notice{
      .id = reminder.id,
      .event = ran_out ? notify::Event::kMaxRetryReached : notify::Event::kDeadLetter,
      .node = node,
      .kind = reminder.kind,
      .retries = row.retries,
      .max_retries = reminder.settings.max_retries,
      .reason = "NEEDS_PERSON",
      .last_error = reminder.error,
      .reminder = row.notify_count};
  if (row.start_time) notice.at = *row.start_time;
  notice.attributes = {{"table", reminder.settings.table},
                       {"row", guard::to_string(row.id)},
                       {"reminder", std::to_string(row.notify_count)}};
  notice.ids = {"row"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) notice.attributes.emplace(name, value);
  };
  add("service", reminder.settings.service_name);
  add("manual_success_route", reminder.manual_success_route);
  return notice;
}

guard::Telling telling_of(const notify::Ending& ending) {
  using Fate = guard::Telling::Fate;
  switch (ending.fate) {
    case notify::Fate::kDelivered:
    // By the settings nobody is to be told: as good as told, or it would be asked for ever.
    case notify::Fate::kUnwanted: return {.fate = Fate::kTold};
    case notify::Fate::kFailed: return {.fate = Fate::kFailed};
    // No room, or the notifier ends: nobody has tried.
    case notify::Fate::kDropped: return {.fate = Fate::kLater};
    case notify::Fate::kLater: return {.fate = Fate::kLater, .wait = ending.wait};
  }
  std::abort();
}

void tell(notify::Notifier& notifier, const std::string& node, const guard::Reminder& reminder,
          guard::Told told) {
  notifier.fire(notice_of(reminder, node), [told = std::move(told)](const notify::Ending& ending) {
    told(telling_of(ending));
  });
}

}  // namespace recourse::embed
