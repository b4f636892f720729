#include "message/kafka/offset_ledger.h"

#include <algorithm>

namespace recourse::message::kafka {

OffsetLedger::Delivery OffsetLedger::deliver(Offset offset) {
  // Messages come in their order: what was to come before this one is not in the log any more.
  if (!is_seek_due_) waiting_.erase(waiting_.begin(), waiting_.lower_bound(offset));
  const bool is_again = waiting_.erase(offset) > 0;
  if (!is_again && offset < end_) return Delivery::kSkip;
  out_.insert(offset);
  end_ = std::max(end_, offset + 1);
  return is_again ? Delivery::kAgain : Delivery::kFirst;
}

void OffsetLedger::give_back(Offset offset) {
  if (out_.erase(offset) == 0) return;
  waiting_.insert(offset);
  is_seek_due_ = true;
}

std::optional<Offset> OffsetLedger::to_seek() const {
  if (!is_seek_due_ || waiting_.empty()) return std::nullopt;
  return *waiting_.begin();
}

std::optional<Offset> OffsetLedger::first_undecided() const {
  if (out_.empty() && waiting_.empty()) return std::nullopt;
  if (out_.empty()) return *waiting_.begin();
  if (waiting_.empty()) return *out_.begin();
  return std::min(*out_.begin(), *waiting_.begin());
}

std::optional<Offset> OffsetLedger::to_commit() const {
  const Offset next = first_undecided().value_or(end_);
  // The first that was delivered may be undecided: then there is nothing to say yet.
  if (next <= committed_ || next < 0) return std::nullopt;
  return next;
}

}  // namespace recourse::message::kafka
