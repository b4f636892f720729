// Looks at the figures every few seconds, and tells people of those that went wrong, or well again:
// the thread around WatchedAlerts.
//
// While the store is away nothing is looked at; that itself is told by the node, which then stops.
//
// Safe to use from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/ulid_source.h"
#include "notify/alerts/figures.h"
#include "notify/alerts/watched_alert.h"
#include "notify/fate.h"
#include "store/records.h"

namespace recourse::notify {

struct AlertWatchSettings {
  // Valid, with names of their own.
  std::vector<AlertDefinition> alerts = {};
  Duration look_every = std::chrono::seconds(15);
  Sayer sayer = {};
};

class AlertWatch {
 public:
  using Fire = std::function<void(Notice, Ended)>;

  // All that is given must outlive it; what it fired may end later.
  AlertWatch(AlertWatchSettings settings, AlertSources sources, store::Records& records, Fire fire,
             UlidSource& ids, const Clock& clock, Log& log);
  ~AlertWatch();
  AlertWatch(const AlertWatch&) = delete;
  AlertWatch& operator=(const AlertWatch&) = delete;

  // One look. Its own thread does so; tests that move a clock by hand call it.
  Result<> look();
  // Looks no more. Waits for the call to the store that is out.
  void stop();
  // After stop(), and once what was fired has ended: that people were told is written down, so that
  // nobody tells them again.
  void record_told();

 private:
  struct Stored {
    store::Record record;
    std::optional<AlertState> state;
  };
  // Shared with what was fired, which may outlive the watch.
  struct Desk {
    Mutex mutex;
    ConditionVariable changed;
    std::vector<WatchedAlert> alerts GUARDED_BY(mutex);
    bool stopping GUARDED_BY(mutex) = false;
  };

  void run();
  // True: it is to stop.
  bool wait();
  Result<std::map<std::string, Stored>> read_stored();
  Result<> look_at(std::size_t place, double figure, const Stored* stored) REQUIRES(looking_);
  // False: somebody else was faster.
  Result<bool> write(const std::string& name, const AlertState& state, const Stored* stored);
  void tell(std::size_t place, const AlertState& state);

  const AlertWatchSettings settings_;
  store::Records& records_;
  const Fire fire_;
  UlidSource& ids_;
  Log& log_;
  const std::shared_ptr<Desk> desk_;
  std::stop_source stop_;
  Mutex looking_;
  AlertFigures figures_ GUARDED_BY(looking_);
  // Of whoever stops it first.
  Mutex joining_;
  std::thread thread_ GUARDED_BY(joining_);
};

}  // namespace recourse::notify
