// A row that waits for a person, as those are told who are told of dead letters.
#pragma once

#include <string>

#include "guard/reminder.h"
#include "notify/notice.h"
#include "notify/notifier.h"

namespace recourse::embed {

notify::Notice notice_of(const guard::Reminder& reminder, const std::string& node);

// What became of a notice, as a guard writes it down.
guard::Telling telling_of(const notify::Ending& ending);

// The notifier must outlive what it is given.
void tell(notify::Notifier& notifier, const std::string& node, const guard::Reminder& reminder,
          guard::Told told);

}  // namespace recourse::embed
