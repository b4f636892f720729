// Who tells people, put together from the configuration: the notifier with its channels, and the
// teller that reminds of what waits for them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/desk.h"
#include "app/config/config.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/ulid_source.h"
#include "embed/telling.h"
#include "engine/core/happening.h"
#include "http/client.h"
#include "notify/delivery_log.h"
#include "notify/notifier.h"
#include "store/opened.h"

namespace recourse::app {

// All that can be known of it without sending anything.
Result<> check_notify(const NotifyConfig& config);

// What people are shown of the channels.
std::vector<api::ChannelCard> channel_cards_of(const NotifyConfig& config);

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

  // As embed::Telling has them.
  void begin() { telling_->begin(); }
  void happened(const engine::Happening& happening) { telling_->happened(happening); }
  void stop(Duration within);
  void tell(notify::Notice notice, notify::Ended ended) {
    notifier().fire(std::move(notice), std::move(ended));
  }

  [[nodiscard]] notify::NotifierCounts counts() const { return telling_->notifier().counts(); }
  [[nodiscard]] notify::Notifier& notifier() { return telling_->notifier(); }

 private:
  explicit Notifications(const Parts& parts) : parts_(parts) {}
  [[nodiscard]] std::unique_ptr<embed::Telling> telling(std::unique_ptr<notify::Notifier> notifier,
                                                        const notify::CaseBookSettings& book) const;

  Parts parts_;
  // Outlives the notifier, whose last letters it is told of. Empty where it is switched off.
  std::unique_ptr<notify::DeliveryLog> deliveries_;
  std::unique_ptr<embed::Telling> telling_;
};

}  // namespace recourse::app
