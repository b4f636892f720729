// What users of the library bring to tell people with, as the notifier understands it.
#pragma once

#include <memory>

#include "embed/telling.h"
#include "notify/notifier.h"
#include "recourse/notifications.h"

namespace recourse::embed {

Notice notice_for_users(const notify::Notice& notice);

// The error names the option.
Result<std::unique_ptr<Telling>> make_telling(const NotificationOptions& options,
                                              const Telling::Parts& parts, std::string node);

}  // namespace recourse::embed
