#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace recourse {

void invariant_broken(std::string_view what, std::source_location where) {
  // stderr and not the log sink: whatever is broken may be what the sink stands on.
  std::fprintf(stderr, "%s:%u: invariant broken: %.*s\n", where.file_name(),
               static_cast<unsigned>(where.line()), static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace recourse
