// Where a handler's notes wait until the core comes for them.
#pragma once

#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/core/event.h"
#include "engine/core/note_line.h"

namespace recourse::engine {

// Safe to use from any thread.
class HandlersPad final : public NotePad {
 public:
  // True: the core is to be told that there is something.
  bool write(Said said) {
    MutexLock lock(mutex_);
    make_room(waiting_, [](const Said& one) { return one.progress.has_value(); });
    waiting_.push_back(std::move(said));
    return !std::exchange(told_, true);
  }

  std::vector<Said> take() override {
    MutexLock lock(mutex_);
    told_ = false;
    return std::exchange(waiting_, {});
  }

 private:
  Mutex mutex_;
  std::vector<Said> waiting_ GUARDED_BY(mutex_);
  bool told_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::engine
