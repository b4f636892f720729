// Who tells people what a node is about: a notifier, and the teller that reminds them of what waits
// for them.
//
// Safe to use from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/ulid_source.h"
#include "engine/core/happening.h"
#include "notify/case_teller.h"
#include "notify/notifier.h"
#include "store/cases.h"

namespace recourse::embed {

class Telling {
 public:
  struct Parts {
    store::Cases& cases;
    UlidSource& ids;
    const Clock& clock;
    Log& log;
  };

  // All of the parts must outlive it. A notifier that is switched off: nobody is told, and nothing
  // is looked for. Nobody is told anything before begin().
  Telling(const Parts& parts, std::unique_ptr<notify::Notifier> notifier,
          const notify::TellerSettings& settings);

  // The program is up: from here on people are told, also of what has happened so far. One that
  // cannot start has told nobody. Once.
  void begin();
  // Something waits for a person. From any thread.
  void hint();
  // On the engine's thread: neither blocks nor throws.
  void happened(const engine::Happening& happening);
  // What waits goes out first, for so long at most, and what people were told is written down. From
  // any thread; a shorter time counts.
  void stop(Duration within);

  [[nodiscard]] notify::Notifier& notifier() { return *notifier_; }
  [[nodiscard]] const notify::Notifier& notifier() const { return *notifier_; }

 private:
  // Of before the beginning; later ones are dropped.
  static constexpr std::size_t kEarlyMax = 100;

  // False: it is too early, and the notice was kept or dropped.
  bool has_begun(notify::Notice& notice);

  Parts parts_;
  const std::string node_;
  Mutex mutex_;
  bool begun_ GUARDED_BY(mutex_) = false;
  std::vector<notify::Notice> early_ GUARDED_BY(mutex_);
  std::unique_ptr<notify::Notifier> notifier_;
  // Empty where notifications are switched off.
  std::unique_ptr<notify::CaseTeller> teller_;
};

}  // namespace recourse::embed
