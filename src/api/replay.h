// Idempotency-Key: for 24 hours, the same request under the same key means the same task. It is the
// create door, with a task for what is created: its id is the one that is kept with the key.
#pragma once

#include <optional>
#include <string>

#include "api/desk.h"
#include "base/result.h"
#include "store/creates.h"
#include "task/ids.h"

namespace recourse::api {

// The header, quoted or bare. One tenant's keys are not another's. `task` is what it will stand
// for, where the key is new.
Result<store::CreateAsk> read_replay_key(const Call& call, task::TaskId task);

// What the request was answered with.
struct Replayed {
  task::TaskId task;
  // Another task had its unique key.
  bool is_taken = false;
};
std::string to_value(const Replayed& replayed);
Result<Replayed> read_replayed(std::string_view value);

}  // namespace recourse::api
