#include "app/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace recourse::app {
namespace {

// Five times what can be configured of connections. Containers allow a billion, which the programs
// that kinds run would inherit, and some of those close every number there is.
constexpr rlim_t kEnough = 524'288;

}  // namespace

void raise_open_files(Log& log) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, kEnough));
  if (limit.rlim_cur != before && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    const int error = errno;
    log.warning("open_files_not_raised", {{"limit", std::to_string(before)},
                                          {"error", std::generic_category().message(error)}});
    return;
  }
  log.debug("open_files",
            {{"limit", std::to_string(limit.rlim_cur)}, {"before", std::to_string(before)}});
}

}  // namespace recourse::app
