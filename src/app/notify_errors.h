// The notifier names its own settings where one is wrong; people know them by the keys of the
// configuration.
#pragma once

#include <string>

#include "app/config/notify_config.h"
#include "base/result.h"

namespace recourse::app {

// Of one channel: `email.server ...` becomes `notify.channels.NAME.server ...`.
Error in_keys(const std::string& name, ChannelType type, const Error& error);
// Of the rest: `router.defaults ...` becomes `notify.defaults ...`.
Error in_keys(const Error& error);

}  // namespace recourse::app
