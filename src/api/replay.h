// Idempotency-Key: for 24 hours, the same request under the same key means the same task.
#pragma once

#include <string>

#include "api/desk.h"
#include "base/result.h"
#include "store/records.h"
#include "task/ids.h"

namespace recourse::api {

struct ReplayKey {
  std::string name;  // of the record
  std::string body;  // SHA-256
};

struct Replay {
  bool is_first = false;
  // The first was answered with a task that had its unique key.
  bool is_taken = false;
  task::TaskId task;
  store::Record record;
};

// The header, quoted or bare. One tenant's keys are not another's.
Result<ReplayKey> read_replay_key(const Call& call);
// Fixes which task the key stands for, before that exists. kInvalid: another body was sent under
// it.
Result<Replay> begin_replay(store::Records& records, const ReplayKey& key, task::TaskId task);
// Another task has the unique key, and is what the key stands for from now on.
Result<> point_replay_to(store::Records& records, const Replay& replay, task::TaskId task);

}  // namespace recourse::api
