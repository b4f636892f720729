// Rows that are due although they have a task: the row is the truth, and the task only runs it.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/node.h"
#include "guard/row.h"
#include "store/opened.h"
#include "task/ids.h"

namespace recourse::guard {

struct TakenParts {
  store::OpenedStore& opened;
  engine::Node& node;
  Log& log;
  std::string guard;
};

struct TakenRow {
  RowId row;
  task::TaskId task;
};

// One whose task has ended because its owners died while they ran it.
struct Deadly {
  TakenRow taken;
  TimePoint died_at;
  std::string error;
};

// A task that waits for a later time, because somebody has changed the row since, is run now. One
// that is dead because nobody had a handler would keep its key for ever: it begins anew, and the
// row's own window ends it. Those that killed their process are answered, and left as they are.
Result<std::vector<Deadly>> wake_taken(const TakenParts& parts, const std::vector<TakenRow>& taken,
                                       Duration within);

// Their rows are with a person now: there is nothing left to decide of the tasks.
Result<> resolve(const TakenParts& parts, const std::vector<task::TaskId>& tasks, Duration within);
// They begin anew.
Result<> reopen(const TakenParts& parts, const std::vector<task::TaskId>& tasks, Duration within);

}  // namespace recourse::guard
