// Rows that are due although they have a task: the row is the truth, and the task only runs it.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/node.h"
#include "store/opened.h"
#include "task/ids.h"

namespace recourse::guard {

struct TakenParts {
  store::OpenedStore& opened;
  engine::Node& node;
  Log& log;
  std::string guard;
};

// One that waits for a later time, because somebody has changed the row since, is run now. One that
// is dead (its owners died of it, or nobody had a handler) would keep its key for ever: it begins
// anew, and the row's own window ends it.
Result<> wake_taken(const TakenParts& parts, const std::vector<task::TaskId>& tasks,
                    Duration within);

}  // namespace recourse::guard
