// Makes a failure durable, wherever that is possible now: in the store, or in the spool until the
// store answers again.
//
// The store is asked first, with little patience. Once it has failed somebody, nobody waits for it
// any more: what comes goes straight to the spool, until whoever empties that has found the store
// well. Every record keeps its id on all ways, so that it is harmless when one arrives twice: a
// submit that was given up on may still be written, and a spool may be read again after a crash.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "degrade/spool.h"
#include "engine/node.h"
#include "store/limits.h"
#include "store/reader.h"
#include "store/work.h"

namespace recourse::degrade {

enum class Where : std::uint8_t { kStore, kSpool };

struct Recorded {
  Where where = Where::kStore;
  // The very same record was there before.
  bool is_repeated = false;
};

// Whether a record is offered to the store before the spool. While the spool holds something,
// whoever empties it will hear of the store's recovery; while it holds nothing, only a caller can.
constexpr bool asks_store(bool store_failed_last, bool spool_holds_something) {
  return !store_failed_last || !spool_holds_something;
}

// Whether the spool can help: a record that is wrong is wrong there too.
constexpr bool is_worth_spooling(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kInDoubt ||
         code == ErrorCode::kExhausted;
}

// A store takes a fresh id at its word for kFreshFor; whoever repeats it lets that pass first, with
// room for clocks that disagree. So long the oldest segment is left alone after its last record.
inline constexpr Duration kRepeatAfter = 3 * store::kFreshFor;
Duration time_until_repeat(const std::vector<store::Submission>& batch, TimePoint now);

// What is left of the delay after the time that a record has waited outside the store.
Duration delay_left(const store::Submission& submission, TimePoint now);

class Recorder {
 public:
  struct Parts {
    engine::Node& node;
    store::Reader& reader;
    const Clock& clock;
    Log& log;
  };
  // All of the parts must outlive it. Without a spool, what the store does not take is refused.
  // `patience` is how long a caller waits for the store while there is a spool.
  Recorder(const Parts& parts, std::unique_ptr<Spool> spool, Duration patience);
  // Leaves the spool as it is, for the next start.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Durable when it answers. kInvalid: it can never be recorded; kConflict: its id is another's;
  // kExhausted: the spool is full too; anything else: there is no spool, or its disk refuses.
  // kFresh: the id was made for this call. Whether an id is another's is told while the store
  // answers; what went to the spool under such an id is set aside there, and logged.
  Result<Recorded> record(const store::Submission& submission, store::Novelty novelty);

  [[nodiscard]] const Spool* spool() const { return spool_.get(); }

 private:
  Result<Recorded> store_it(const store::Submission& submission, store::Novelty novelty);
  // That what stands under the id is this record, and nothing else.
  Result<> check_repeated(const store::Submission& submission);
  Result<Recorded> spool_it(const store::Submission& submission, const Error* store_error);
  void set_store_failed(bool failed);

  void empty_spool();
  // Waits for it so long.
  bool is_closing_within(Duration pause);
  // False: the store does not answer, or it is time to end.
  bool empty_oldest();
  // kUnavailable where one of them could not be written now. Those that never can are counted.
  Result<std::size_t> submit_again(const std::vector<store::Submission>& batch);
  std::vector<store::Submission> read(const Spool::Batch& batch, bool& all_read);

  const Parts parts_;
  const std::unique_ptr<Spool> spool_;
  const Duration patience_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool store_failed_ GUARDED_BY(mutex_) = false;
  bool filled_ GUARDED_BY(mutex_) = true;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace recourse::degrade
