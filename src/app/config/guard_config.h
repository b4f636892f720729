// One guarded table, and who mends its rows.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/config/kind_config.h"
#include "app/config/secret.h"
#include "engine/core/settings.h"
#include "guard/settings.h"

namespace recourse::app {

struct GuardConfig {
  guard::GuardSettings settings = {};
  // Where the table is. Empty: in the server's own store. May hold a password.
  Secret database = {};
  // Asked whether a row is well. No URL: the row's own status says it, and what `handle` answers.
  HttpTarget check = {};
  // Asked to mend a row. No URL: nobody does.
  HttpTarget handle = {};
  engine::KindSettings lane = {};
};

// The sources' `abnormal.retry` block: what holds for all guards.
struct AbnormalConfig {
  Duration scan_interval = guard::GuardSettings().scan_every;
  std::string mail_from = {};
  std::vector<std::string> mail_to = {};
};

}  // namespace recourse::app
