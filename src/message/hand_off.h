// Between the thread that speaks with the broker and the one that deals with messages: batches go
// one way, verdicts the other. Bounded: one batch is dealt with and a few wait, so that a moment
// in which the store is busy with itself does not stop the stream; the last of them grows up to its
// limit meanwhile, because few large ones cost less than many small ones. The broker keeps the
// rest.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "message/broker.h"
#include "message/message.h"

namespace recourse::message {

struct DueVerdict {
  Verdict verdict;
  // Not told to the broker before.
  Deadline from = {};
};

class HandOff {
 public:
  // Messages in a batch at most.
  explicit HandOff(std::size_t batch) : batch_(batch) {}

  // --- the broker's side ---
  // How many may be offered; none where it is too few to be worth a call.
  [[nodiscard]] std::size_t room() const;
  // No more than there is room for; never empty. After close() they are dropped: the broker has
  // them.
  void offer(std::vector<Message> batch);
  // Those whose time has come; each once.
  std::vector<Verdict> take_verdicts(Deadline now);

  // --- the dealer's side ---
  // Waits for one; empty: it is closed.
  std::optional<std::vector<Message>> take();
  void decide(const std::vector<DueVerdict>& verdicts);
  // The batch that was taken is dealt with, or given up.
  void finish();
  // True: it was closed meanwhile.
  bool closed_within(Duration pause);

  // Nobody takes anything from now on.
  void close();
  // After close(): waits for the batch that is being dealt with. False: it takes longer.
  bool idle_within(Duration limit);

 private:
  const std::size_t batch_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  // Moves there what it has room for.
  void fill_last(std::vector<Message>& batch) REQUIRES(mutex_);

  std::deque<std::vector<Message>> waiting_ GUARDED_BY(mutex_);
  std::vector<DueVerdict> verdicts_ GUARDED_BY(mutex_);
  bool is_dealing_ GUARDED_BY(mutex_) = false;
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::message
