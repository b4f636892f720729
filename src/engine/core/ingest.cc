#include "engine/core/ingest.h"

#include <algorithm>
#include <set>
#include <utility>

namespace recourse::engine {
namespace {

constexpr int kLingerShare = 4;
constexpr Duration kLingerMax = std::chrono::microseconds(500);

// Below the store's bound, which counts the small fields too.
constexpr std::size_t kBytesPerCall = store::kBatchBytesMax - store::kBatchRowsMax * 2 * 1024;

}  // namespace

bool Ingest::add(WaitingSubmit submit) {
  const std::size_t bytes = task::size_of(submit.submission.spec);
  if (waiting_.size() >= settings_.waiting || waiting_bytes_ + bytes > settings_.waiting_bytes) {
    return false;
  }
  waiting_bytes_ += bytes;
  waiting_.push_back(std::move(submit));
  return true;
}

std::vector<WaitingSubmit> Ingest::take_all() {
  std::vector<WaitingSubmit> all;
  for (Batch& batch : again_) {
    for (std::size_t i = 0; i < batch.submits.size(); ++i) {
      all.push_back({.submit = batch.submits[i], .submission = std::move(batch.submissions[i])});
    }
  }
  for (WaitingSubmit& waiting : waiting_) all.push_back(std::move(waiting));
  again_.clear();
  waiting_.clear();
  waiting_bytes_ = 0;
  return all;
}

void Ingest::end(bool again, std::size_t answered, TimePoint sent_at, TimePoint now) {
  --(again ? again_out_ : out_);
  if (again) return;
  linger_until_ = now + std::min((now - sent_at) / kLingerShare, kLingerMax);
  expected_ = std::min(waiting_.size() + answered, kWorthAnotherCall);
}

bool Ingest::has_call() const {
  if (waiting_.empty()) return false;
  return out_ == 0 || (out_ < settings_.calls && waiting_.size() >= kWorthAnotherCall);
}

TimePoint Ingest::next_wakeup() const {
  return has_call() && waiting_.size() < expected_ ? linger_until_ : kNever;
}

std::optional<Ingest::Batch> Ingest::take(TimePoint now) {
  if (!again_.empty() && again_out_ < kAgainCalls) {
    Batch batch = std::move(again_.front());
    again_.pop_front();
    batch.again = true;
    batch.novelty = store::Novelty::kRepeat;
    ++again_out_;
    return batch;
  }
  if (!has_call() || (waiting_.size() < expected_ && now < linger_until_)) return std::nullopt;
  ++out_;
  return gather();
}

Ingest::Batch Ingest::gather() {
  Batch batch;
  // Of submitters who may repeat themselves: one id twice is two calls.
  std::set<task::TaskId> repeats;
  std::size_t bytes = 0;
  while (!waiting_.empty() && batch.submits.size() < store::kBatchRowsMax) {
    WaitingSubmit& next = waiting_.front();
    const std::size_t more = task::size_of(next.submission.spec);
    if (!batch.submits.empty() && bytes + more > kBytesPerCall) break;
    const bool may_repeat = next.novelty == store::Novelty::kRepeat;
    if (may_repeat && !repeats.insert(next.submission.id).second) break;
    bytes += more;
    waiting_bytes_ -= more;
    if (may_repeat) batch.novelty = store::Novelty::kRepeat;
    batch.submits.push_back(next.submit);
    batch.submissions.push_back(std::move(next.submission));
    waiting_.pop_front();
  }
  return batch;
}

}  // namespace recourse::engine
