#include "notify/held_back.h"

#include <algorithm>
#include <utility>

namespace recourse::notify {

bool HeldBack::add(const Sort& sort, const Notice& notice, Ended& ended, TimePoint due) {
  const bool waits = ended != nullptr;
  if (waits && waiting_ended_ >= ended_max_) return false;
  auto found = held_.find(sort);
  if (found == held_.end()) {
    if (held_.size() >= kSortsMax) return false;
    found = held_.emplace(sort, Tally{.due = due}).first;
  }
  Tally& tally = found->second;
  ++tally.count;
  ++count_;
  tally.newest = notice;
  tally.due = std::min(tally.due, due);
  if (waits) {
    tally.ended.push_back(std::move(ended));
    ++waiting_ended_;
  }
  return true;
}

std::pair<Sort, HeldBack::Tally> HeldBack::extract(Held::iterator where) {
  auto node = held_.extract(where);
  count_ -= node.mapped().count;
  waiting_ended_ -= node.mapped().ended.size();
  return {std::move(node.key()), std::move(node.mapped())};
}

HeldBack::Tally HeldBack::take(const Sort& sort) {
  const auto found = held_.find(sort);
  return found == held_.end() ? Tally{} : extract(found).second;
}

std::optional<std::pair<Sort, HeldBack::Tally>> HeldBack::take_due(TimePoint now) {
  const auto found =
      std::ranges::find_if(held_, [now](const auto& one) { return one.second.due <= now; });
  if (found == held_.end()) return std::nullopt;
  return extract(found);
}

std::optional<std::pair<Sort, HeldBack::Tally>> HeldBack::take_any() {
  if (held_.empty()) return std::nullopt;
  return extract(held_.begin());
}

void HeldBack::put_back(const Sort& sort, Tally tally, TimePoint due) {
  tally.due = due;
  count_ += tally.count;
  waiting_ended_ += tally.ended.size();
  held_.insert_or_assign(sort, std::move(tally));
}

std::optional<TimePoint> HeldBack::next_due() const {
  if (held_.empty()) return std::nullopt;
  const auto earlier = [](const auto& a, const auto& b) { return a.second.due < b.second.due; };
  return std::ranges::min_element(held_, earlier)->second.due;
}

}  // namespace recourse::notify
