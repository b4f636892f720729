// std::mutex with the annotations that let clang prove every guarded member is read and written
// under its lock (`-Wthread-safety`); libstdc++'s own carries none.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define RECOURSE_ANNOTATE(x) __attribute__((x))
#else
#define RECOURSE_ANNOTATE(x)
#endif

#define GUARDED_BY(x) RECOURSE_ANNOTATE(guarded_by(x))
#define REQUIRES(...) RECOURSE_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) RECOURSE_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace recourse {

class RECOURSE_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() RECOURSE_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  void unlock() RECOURSE_ANNOTATE(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class RECOURSE_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) RECOURSE_ANNOTATE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() RECOURSE_ANNOTATE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits on a Mutex that the caller holds.
using ConditionVariable = std::condition_variable_any;

}  // namespace recourse
