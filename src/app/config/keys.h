// The table of all keys. See key.h for what a row is.
#pragma once

#include <string>

#include "app/config/config.h"
#include "app/config/key.h"

namespace recourse::app {

// As it is before anything was given: what the reference shows as defaults.
Config default_config();

// In the order in which they are documented. Maps of named things start from what the Config holds
// when one is added, so that its defaults must be filled in first.
Keys keys_of(Config& config);

// With the keys of every named thing that the Config has, each under its whole path.
Keys all_keys_of(Config& config);

// Parts of it, a file each.
Keys program_keys(Config& config);  // server, auth, store, node, log, shutdown, limits, retention
Keys retry_keys(Config& config);    // retry and abnormal, as the sources have them
Keys kind_keys(KindConfig& kind);   // one kind
// `defaults`: what a kind has that `retry` does not already say; a guard too.
Keys lane_keys(engine::KindSettings& settings);
// Headers and signature of calls; the URL is the caller's row.
Keys request_keys(HttpTarget& target);
Keys guard_keys(GuardConfig& guard);
// As it is before anything was said of it.
GuardConfig new_guard(const std::string& name, const Config& config);
Keys schedule_keys(ScheduleConfig& schedule);
Keys notify_keys(NotifyConfig& notify);
Keys degrade_keys(DegradeConfig& degrade);
Keys message_keys(MessagesConfig& messages);
Keys channel_keys(ChannelConfig& channel);
Key alerts_key(NotifyConfig& notify);
ScheduleConfig new_schedule(const std::string& name, const KindConfig& defaults);

Keys backoff_keys(policy::BackoffSettings& backoff);

}  // namespace recourse::app
