// Submits on their way into the store. While a call is out the next batch gathers: many callers
// share one transaction, and at low load nobody waits for company. Callers who have just been
// answered often come back at once, so the next call waits for them a moment, a fraction of what
// the last one took; without it they and those who came meanwhile would take turns for ever, in
// transactions half as large.
//
// Thread safety: none; the core owns it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "engine/core/event.h"
#include "engine/core/settings.h"
#include "store/work.h"
#include "task/ids.h"

namespace recourse::engine {

struct WaitingSubmit {
  SubmitId submit;
  store::Submission submission;
  store::Novelty novelty = store::Novelty::kFresh;
};

// Calls at once of those that wait for a key, and how many may wait for such a call.
inline constexpr int kAgainCalls = 4;
inline constexpr std::size_t kAgainMax = 1'000;

inline constexpr const char* kTooManySubmits =
    "too many submits wait to be written: try again in a moment";

class Ingest {
 public:
  explicit Ingest(const IngestSettings& settings) : settings_(settings) {}

  // False: full. Nothing was taken.
  [[nodiscard]] bool add(WaitingSubmit submit);

  // One call's worth.
  struct Batch {
    std::vector<SubmitId> submits;
    std::vector<store::Submission> submissions;
    // Sent by this node before: alone now, for a key that another transaction holds.
    bool again = false;
    // When it was first sent, where it was.
    TimePoint since = {};
    // Whether any of these ids may have been sent before.
    store::Novelty novelty = store::Novelty::kFresh;
  };
  // Empty while nothing waits that is worth a call, or all calls are out. Each is answered by
  // end().
  std::optional<Batch> take(TimePoint now);
  // `answered` of its submits were; the call was out since `sent_at`.
  void end(bool again, std::size_t answered, TimePoint sent_at, TimePoint now);
  [[nodiscard]] TimePoint next_wakeup() const;
  // Sent once more, alone: whoever holds its key may let go of it, or it is the one bad item. A few
  // of them at a time, beside the others, so that nobody else waits.
  void take_back(Batch batch) { again_.push_back(std::move(batch)); }
  [[nodiscard]] bool has_room_to_wait() const { return again_.size() < kAgainMax; }

  // All that was not sent; nothing waits afterwards.
  std::vector<WaitingSubmit> take_all();

  [[nodiscard]] bool idle() const {
    return waiting_.empty() && again_.empty() && out_ == 0 && again_out_ == 0;
  }

 private:
  // Something waits that is worth a call, and one is free.
  [[nodiscard]] bool has_call() const;
  Batch gather();

  IngestSettings settings_;
  std::deque<WaitingSubmit> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::deque<Batch> again_;
  int out_ = 0;
  int again_out_ = 0;
  // Until then more are expected: those who were answered last, beside those who waited.
  TimePoint linger_until_ = TimePoint::min();
  std::size_t expected_ = 0;
};

}  // namespace recourse::engine
