// Workers that wait for work. They hold no thread and ask the store nothing: one look per kind and
// moment serves all of them, in the order they came.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/lease_desk.h"
#include "store/reader.h"

namespace recourse::api {

inline constexpr std::size_t kWaitingWorkersMax = 1'000;

// Safe to use from any thread.
class LeaseLine {
 public:
  // An empty list: the time is over and nothing came.
  using Leased = std::function<void(Result<std::vector<task::Task>>)>;

  // All of them must outlive it.
  LeaseLine(engine::LeaseDesk& leases, store::Reader& reader, const Clock& clock);
  // Whoever still waits is answered with nothing.
  ~LeaseLine();
  LeaseLine(const LeaseLine&) = delete;
  LeaseLine& operator=(const LeaseLine&) = delete;

  // `leased` is called once, on the line's thread. Whoever `is_gone` gets no work: it would lie
  // there until its lease ends. False: too many wait already, or the line is closed.
  bool wait(engine::LeaseWish wish, Duration at_most, Leased leased,
            std::function<bool()> is_gone = nullptr);
  // Something may be due.
  void nudge();
  // Whoever waits is answered with nothing, and nobody may wait from now on.
  void close();

 private:
  struct Waiting {
    engine::LeaseWish wish;
    BootTime until;
    Leased leased;
    std::function<bool()> is_gone;
  };

  void run();
  void serve(std::deque<Waiting>& line);
  std::set<task::Kind> kinds_with_work(const std::deque<Waiting>& line);
  // True: it has its answer.
  bool serve_one(const Waiting& waiting, std::set<task::Kind>& due);

  engine::LeaseDesk& leases_;
  store::Reader& reader_;
  const Clock& clock_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Waiting> line_ GUARDED_BY(mutex_);
  bool nudged_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace recourse::api
