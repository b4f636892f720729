// Tells people of what waits for them, and reminds them until somebody has dealt with it: the
// thread around a CaseBook.
//
// Safe to use from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "notify/case_book.h"
#include "notify/case_notice.h"
#include "notify/fate.h"

namespace recourse::notify {

struct TellerSettings {
  CaseBookSettings book = {};
  Sayer sayer = {};
  // How often it looks for what other nodes escalated, and for reminders.
  Duration look_every = std::chrono::seconds(5);
};

Result<> validate(const TellerSettings& settings);

class CaseTeller {
 public:
  using Fire = std::function<void(Notice, Ended)>;

  // The settings must be valid. All that is given must outlive it; what it fired may end later.
  CaseTeller(store::Cases& cases, Fire fire, TellerSettings settings, const Clock& clock, Log& log);
  ~CaseTeller() { stop(); }
  CaseTeller(const CaseTeller&) = delete;
  CaseTeller& operator=(const CaseTeller&) = delete;

  // What is out is told again when its hold is over, by whoever is there then. Repeating is
  // harmless; not from two threads at once.
  void stop();
  // Something has escalated. Cheap, from wherever.
  void hint();
  [[nodiscard]] std::size_t out() const;

 private:
  // Shared with what was fired, which may outlive the teller.
  struct Desk {
    explicit Desk(const CaseBookSettings& settings) : book(settings) {}

    mutable Mutex mutex;
    ConditionVariable changed;
    CaseBook book GUARDED_BY(mutex);
    bool woken GUARDED_BY(mutex) = false;
    bool stopping GUARDED_BY(mutex) = false;
  };

  void run();
  // True: there is more to do at once.
  Result<bool> turn();
  Result<> put_off();
  Result<bool> take();
  void wait();

  store::Cases& cases_;
  const Fire fire_;
  const TellerSettings settings_;
  const Clock& clock_;
  Log& log_;
  const std::shared_ptr<Desk> desk_;
  std::thread thread_;
};

}  // namespace recourse::notify
