// Who tells people, put together from the configuration: the notifier with its channels, and the
// teller that reminds of what waits for them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/desk.h"
#include "app/config/config.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/ulid_source.h"
#include "engine/core/happening.h"
#include "http/client.h"
#include "notify/case_teller.h"
#include "notify/delivery_log.h"
#include "notify/notifier.h"
#include "store/opened.h"

namespace recourse::app {

// All that can be known of it without sending anything.
Result<> check_notify(const NotifyConfig& config);

// What people are shown of the channels.
std::vector<api::ChannelCard> channel_cards_of(const NotifyConfig& config);

// What of a happening people are told, beside what waits for them: a case tells that.
std::optional<notify::Notice> notice_of(const engine::Happening& happening);

class Notifications {
 public:
  struct Parts {
    store::OpenedStore& opened;
    http::Client& client;
    UlidSource& ids;
    const Clock& clock;
    Log& log;
    // Of this process, and where people see a task of it.
    notify::Sayer sayer;
  };

  // All of the parts must outlive it. Nobody is told anything before begin().
  static Result<std::unique_ptr<Notifications>> make(const NotifyConfig& config,
                                                     const Parts& parts);

  // The server serves: from here on people are told, also of what has happened so far. A server
  // that cannot start has told nobody. Once.
  void begin();
  // On the engine's thread: neither blocks nor throws.
  void happened(const engine::Happening& happening);
  void tell(notify::Notice notice, notify::Ended ended) {
    notifier_->fire(std::move(notice), std::move(ended));
  }
  // What waits goes out first, for so long at most, and what people were told is written down.
  // From any thread; a shorter time counts.
  void stop(Duration within);

  [[nodiscard]] notify::NotifierCounts counts() const { return notifier_->counts(); }
  [[nodiscard]] notify::Notifier& notifier() { return *notifier_; }

 private:
  // Of before the beginning; later ones are dropped.
  static constexpr std::size_t kEarlyMax = 100;

  explicit Notifications(const Parts& parts) : parts_(parts) {}
  // False: it is too early, and the notice was kept or dropped.
  bool has_begun(notify::Notice& notice);

  Parts parts_;
  Mutex mutex_;
  bool begun_ GUARDED_BY(mutex_) = false;
  std::vector<notify::Notice> early_ GUARDED_BY(mutex_);
  // Outlives the notifier, whose last letters it is told of. Empty where it is switched off.
  std::unique_ptr<notify::DeliveryLog> deliveries_;
  std::unique_ptr<notify::Notifier> notifier_;
  // Empty where notifications are switched off.
  std::unique_ptr<notify::CaseTeller> teller_;
};

}  // namespace recourse::app
