// What becomes of messages, as log lines: one for each step that people follow (MSG-13). Never the
// body.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "engine/attempt_run.h"
#include "engine/core/happening.h"
#include "store/reader.h"
#include "task/ids.h"

namespace recourse::app {

class MessageLog {
 public:
  // Both must outlive it.
  MessageLog(store::Reader& reader, Log& log) : reader_(reader), log_(log) {}

  // The handler, with a line before each retry. This must outlive it.
  engine::Handler announcing(engine::Handler handler);
  // Around everything else: what the lines say of it when it has ended is remembered.
  engine::Handler remembering(engine::Handler handler);
  // A run has ended: the first one, a retry, or the last of all. Of tasks of message kinds that ran
  // here. Waits for nothing.
  void moved(const engine::Moved& moved);
  // Of one that ran elsewhere: a worker's, or a consumer's that has reported it. Asks the store.
  void moved_outside(const engine::Moved& moved);

 private:
  // What the engine does not tell at the end of a run.
  struct Run {
    std::string message_id;
    bool is_retry = false;
  };
  void remember(const task::Task& task);
  std::optional<Run> recall(task::TaskId task);
  std::optional<Run> look_up(task::TaskId task);
  void write(const engine::Moved& moved, const std::optional<Run>& run);

  store::Reader& reader_;
  Log& log_;
  Mutex mutex_;
  std::map<task::TaskId, Run> runs_ GUARDED_BY(mutex_);
};

}  // namespace recourse::app
