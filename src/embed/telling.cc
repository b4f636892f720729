#include "embed/telling.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "embed/happening_notice.h"

namespace recourse::embed {
namespace {

// What was told last, written into the store.
constexpr Duration kRecordsEndWithin = std::chrono::seconds(3);

}  // namespace

Telling::Telling(const Parts& parts, std::unique_ptr<notify::Notifier> notifier,
                 const notify::TellerSettings& settings)
    : parts_(parts), node_(settings.sayer.node), notifier_(std::move(notifier)) {
  if (!notifier_->is_on()) return;
  teller_ = std::make_unique<notify::CaseTeller>(
      parts.cases,
      [to = notifier_.get()](notify::Notice notice, notify::Ended ended) {
        to->fire(std::move(notice), std::move(ended));
      },
      settings, parts.clock, parts.log);
}

void Telling::begin() {
  std::vector<notify::Notice> early;
  {
    const MutexLock lock(mutex_);
    begun_ = true;
    early = std::exchange(early_, {});
  }
  for (notify::Notice& one : early) notifier_->fire(std::move(one));
  if (teller_ != nullptr) teller_->start();
}

bool Telling::has_begun(notify::Notice& notice) {
  const MutexLock lock(mutex_);
  if (!begun_ && early_.size() < kEarlyMax) early_.push_back(std::move(notice));
  return begun_;
}

void Telling::hint() {
  if (teller_ != nullptr) teller_->hint();
}

void Telling::happened(const engine::Happening& happening) {
  if (teller_ == nullptr) return;
  if (const auto* moved = std::get_if<engine::Moved>(&happening)) {
    if (task::needs_person(moved->to)) teller_->hint();
    return;
  }
  std::optional<notify::Notice> told = notice_of(happening);
  if (!told) return;
  told->id = "evt_" + to_string(parts_.ids.next());
  told->node = node_;
  told->at = parts_.clock.now();
  if (has_begun(*told)) notifier_->fire(*std::move(told));
}

// The teller's book is closed last: what is told while the notifier ends belongs into it.
void Telling::stop(Duration within) {
  if (teller_ != nullptr) teller_->close();
  notifier_->stop(within);
  if (teller_ != nullptr) teller_->stop(std::min(within, kRecordsEndWithin));
}

}  // namespace recourse::embed
