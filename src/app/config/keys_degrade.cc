// The keys of the degrade door: what holds for all of its kinds.
#include <fmt/format.h>

#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "timing/recurrence.h"

namespace recourse::app {
namespace {

std::string check_clean_when(std::string_view written) {
  if (written == kCleanNever) return {};
  const auto parsed = timing::Recurrence::parse(written);
  return parsed ? std::string() : fmt::format("is not understood: {}", parsed.error().message);
}

}  // namespace

Keys degrade_keys(DegradeConfig& degrade) {
  using namespace std::chrono_literals;
  return {
      duration("first-retry-after", at(degrade.first_retry_after), 0us, kLongestWait,
               {"How long after a failure it is tried again for the first time."}),
      text("spool.directory", at(degrade.spool),
           {"Where failures go while the store does not answer; a directory of this server alone. "
            "degrade-spool in store.data-dir where not given.",
            Reload::kRestart, "/var/lib/recourse/degrade-spool"}),
      size("spool.limit", at(degrade.spool_bytes), degrade::kSpoolBytesMin, std::size_t{1} << 40,
           {"What the spool may take; beyond it callers are told."}),
      text("clean.when", at(degrade.clean_when),
           {"When completed records are deleted: a cron expression (UTC), @weekly and the like, an "
            "interval, or never."},
           check_clean_when),
      duration("clean.after", at(degrade.clean_after), 1h, kLongestWait,
               {"How long ago they have ended by then. Those that failed are never deleted so."}),
  };
}

}  // namespace recourse::app
