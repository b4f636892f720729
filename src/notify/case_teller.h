// Tells people of what waits for them, and reminds them until somebody has dealt with it: the
// thread around a CaseBook.
//
// It ends in two steps, with the notifier's end between them: first it takes no more cases, then,
// when the last messages are out, it writes down of what people were told. Whoever ended it before
// would have them told again.
//
// Safe to use from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "notify/case_book.h"
#include "notify/case_notice.h"
#include "notify/fate.h"
#include "notify/look_pace.h"

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
  // Nobody is told anything before start().
  CaseTeller(store::Cases& cases, Fire fire, TellerSettings settings, const Clock& clock, Log& log);
  ~CaseTeller() { stop(Duration::zero()); }
  CaseTeller(const CaseTeller&) = delete;
  CaseTeller& operator=(const CaseTeller&) = delete;

  // Once.
  void start();
  // Takes no more cases; what it fired may still end.
  void close();
  // Writes down what has ended, for at most so long. What is out then is told again when its hold
  // is over, by whoever is there. Repeating is harmless; a shorter time from another thread counts.
  void stop(Duration within);
  // Something has escalated. Cheap, from wherever.
  void hint();
  [[nodiscard]] std::size_t out() const;

 private:
  enum class Phase : std::uint8_t { kTelling, kClosed, kEnding };

  // Shared with what was fired, which may outlive the teller.
  struct Desk {
    explicit Desk(const CaseBookSettings& settings) : book(settings) {}

    mutable Mutex mutex;
    ConditionVariable changed;
    CaseBook book GUARDED_BY(mutex);
    LookPace pace GUARDED_BY(mutex);
    bool woken GUARDED_BY(mutex) = false;
    Phase phase GUARDED_BY(mutex) = Phase::kTelling;
    // Of kEnding.
    std::chrono::steady_clock::time_point end_by GUARDED_BY(mutex) =
        std::chrono::steady_clock::time_point::max();
  };

  static void wait_out_the_pause(Desk& desk, const Clock& clock) REQUIRES(desk.mutex);

  void run();
  // Nothing is left to write, or no time.
  bool has_ended();
  // True: there is more to do at once.
  Result<bool> turn();
  Result<> put_off();
  // What is to be written now, and how long that may take.
  std::pair<std::vector<store::PutOff>, Duration> to_put_off();
  Result<bool> take();
  void wait();

  store::Cases& cases_;
  const Fire fire_;
  const TellerSettings settings_;
  const Clock& clock_;
  Log& log_;
  const std::shared_ptr<Desk> desk_;
  Mutex joining_;
  std::thread thread_ GUARDED_BY(joining_);
};

}  // namespace recourse::notify
