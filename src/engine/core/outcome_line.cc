#include "engine/core/outcome_line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/settings.h"
#include "store/limits.h"

namespace recourse::engine {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(50);
constexpr Duration kLongestPause = std::chrono::seconds(2);
constexpr std::size_t kSmallBatch = 32;

bool has_text(const store::Outcome& outcome) {
  return (outcome.transition.error && !outcome.transition.error->message.empty()) ||
         (outcome.attempt && outcome.attempt->error && !outcome.attempt->error->message.empty()) ||
         !outcome.notes.empty();
}

store::Outcome without_text(store::Outcome outcome) {
  if (outcome.transition.error) outcome.transition.error->message.clear();
  if (outcome.attempt && outcome.attempt->error) outcome.attempt->error->message.clear();
  outcome.notes.clear();
  return outcome;
}

}  // namespace

std::optional<std::vector<store::Outcome>> OutcomeLine::take(TimePoint now) {
  if (!has_call() || now < not_before_) return std::nullopt;
  std::vector<store::Outcome> batch;
  if (!again_.empty()) {
    batch = std::move(again_.front());
    again_.pop_front();
  } else {
    const std::size_t rows = std::min(waiting_.size(), store::kBatchRowsMax);
    if (rows == 0) return std::nullopt;
    batch.reserve(rows);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(rows);
    std::move(waiting_.begin(), end, std::back_inserter(batch));
    waiting_.erase(waiting_.begin(), end);
  }
  ++out_;
  return batch;
}

std::vector<store::Outcome> OutcomeLine::refused(std::vector<store::Outcome> batch,
                                                 const Error& error, TimePoint now) {
  end_call();
  if (planted(PlantedBug::kOutcomeDropped)) return batch;
  if (planted(PlantedBug::kLostCommitIsFailure) && error.code == ErrorCode::kInDoubt) {
    for (store::Outcome& outcome : batch) {
      outcome.transition.move = task::Move::kRelease;
      outcome.transition.to = task::State::kPending;
    }
  }
  if (error.code != ErrorCode::kInvalid && error.code != ErrorCode::kCorrupt) {
    // A store that is never in time for so many may be for fewer.
    const bool halve = pause_ >= kLongestPause && batch.size() > kSmallBatch;
    rest(now);
    if (halve) {
      send_halves(std::move(batch));
    } else {
      again_.push_front(std::move(batch));
    }
    return {};
  }
  // One bad item must not keep five hundred: halves, until it stands alone.
  if (batch.size() > 1) {
    send_halves(std::move(batch));
    return {};
  }
  if (!has_text(batch.front())) return batch;
  again_.push_back({without_text(std::move(batch.front()))});
  return {};
}

void OutcomeLine::send_halves(std::vector<store::Outcome> batch) {
  const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
  again_.emplace_back(std::make_move_iterator(middle), std::make_move_iterator(batch.end()));
  batch.erase(middle, batch.end());
  again_.push_back(std::move(batch));
}

void OutcomeLine::rest(TimePoint now) {
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  not_before_ = now + pause_;
}

bool OutcomeLine::has_call() const {
  if (out_ == 0) return waiting() > 0;
  return out_ < calls_ && (!again_.empty() || waiting_.size() >= kWorthAnotherCall);
}

TimePoint OutcomeLine::next_wakeup() const { return has_call() ? not_before_ : kNever; }

}  // namespace recourse::engine
