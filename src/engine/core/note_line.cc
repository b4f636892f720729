#include "engine/core/note_line.h"

#include <iterator>
#include <utility>

namespace recourse::engine {
namespace {

// So that a node full of talkative handlers costs its store a few calls a second.
constexpr Duration kBetweenCalls = std::chrono::milliseconds(200);
// Of all attempts together; what is said beyond it goes unheard.
constexpr std::size_t kWaitingMax = 5'000;

}  // namespace

void NoteLine::add(AttemptId attempt, store::Jotting jotting) {
  std::vector<store::Jotting>& own = waiting_[attempt];
  count_ -= own.size();
  make_room(own, [](const store::Jotting& item) { return item.note.progress.has_value(); });
  count_ += own.size();
  if (count_ < kWaitingMax) {
    own.push_back(std::move(jotting));
    ++count_;
  }
  if (own.empty()) waiting_.erase(attempt);
}

std::vector<store::Note> NoteLine::take_of(AttemptId attempt) {
  std::vector<store::Note> notes;
  if (const auto sent = out_.find(attempt); sent != out_.end()) {
    for (const store::Jotting& jotting : sent->second) notes.push_back(jotting.note);
  }
  if (const auto own = waiting_.extract(attempt)) {
    count_ -= own.mapped().size();
    for (store::Jotting& jotting : own.mapped()) notes.push_back(std::move(jotting.note));
  }
  return notes;
}

std::optional<std::vector<store::Jotting>> NoteLine::take(TimePoint now) {
  if (!out_.empty() || waiting_.empty() || now < not_before_) return std::nullopt;
  std::vector<store::Jotting> batch;
  while (!waiting_.empty()) {
    const std::vector<store::Jotting>& own = waiting_.begin()->second;
    if (batch.size() + own.size() > store::kBatchRowsMax) break;
    count_ -= own.size();
    std::ranges::copy(own, std::back_inserter(batch));
    out_.insert(waiting_.extract(waiting_.begin()));
  }
  not_before_ = now + kBetweenCalls;
  return batch;
}

}  // namespace recourse::engine
