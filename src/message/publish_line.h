// Messages that others want to publish, on their way to the one thread that may speak with the
// broker.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "message/broker.h"

namespace recourse::message {

class PublishLine {
 public:
  // Waits for the answer; `wake` is called once it stands in the line. kUnavailable where nobody
  // came for it before the deadline, or the line is closed.
  Result<> ask(std::span<const Outgoing> messages, Deadline deadline, FunctionRef<void()> wake);

  // On the broker's thread: answers those that wait, for a moment; the rest is next.
  void work_off(FunctionRef<Result<>(std::span<const Outgoing>, Deadline)> publish);
  // Until open() nobody would come for them.
  void open();
  void close();

 private:
  struct Asked {
    std::vector<Outgoing> messages;
    Deadline deadline;
    std::optional<Result<>> answer;
  };
  std::shared_ptr<Asked> next();
  void answer(Asked& asked, Result<> with);

  Mutex mutex_;
  ConditionVariable answered_;
  std::deque<std::shared_ptr<Asked>> waiting_ GUARDED_BY(mutex_);
  bool is_open_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::message
