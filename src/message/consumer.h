// Handles the messages of one group: on the thread of whoever consumes them at first, and on the
// engine's when they are retried.
//
//   look up the marks ──> run the handlers of those that have none ──> mark them, in one
//   transaction
//                         with the tasks of those that failed ──> answer: acknowledge
//
// Marks are written when a batch ends, or after `flush_after` of handling: so long a crash can make
// a message that was handled be handled again. A handler that shares the mark's transaction is
// spared that.
//
// Invariants
//   1. An answer without an error is durable.
//   2. Of two deliveries of one message that come at once, in one process one is run; in two
//      processes one is marked.
//   3. A run whose mark could not be written is remembered while the process lives, and marked, not
//      repeated, when its message comes again. Where its mark is there after all, the answer is
//      what it would have been.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "base/ulid_source.h"
#include "engine/attempt_run.h"
#include "engine/core/rules.h"
#include "message/call.h"
#include "message/envelope.h"
#include "message/feeder.h"
#include "message/ordering.h"
#include "message/status.h"
#include "store/opened.h"

namespace recourse::message {

struct ConsumerSettings {
  std::string group = {};
  Handling handling = {};
  // The handler shares the mark's transaction.
  bool in_transaction = false;
  // Of an ordered group.
  OrderSettings order = {};
  // Marks wait so long for others at most, while handlers run.
  Duration flush_after = std::chrono::milliseconds(20);
  // Of each call of the store.
  Duration patience = std::chrono::seconds(10);
};

struct ConsumerParts {
  store::OpenedStore& opened;
  // The kind's.
  const engine::KindRules& rules;
  UlidSource& ids;
  Log& log;
  // The store's time, as far as it is known: never ahead of it.
  std::function<TimePoint()> store_now;
  std::function<task::Incarnation()> node;
  // There will be work, after so long.
  std::function<void(Duration in)> hint;
  // Something waits for a person.
  std::function<void()> escalated;
};

enum class Ending : std::uint8_t {
  kProcessed,
  kSkipped,   // dealt with before
  kRecorded,  // the handler failed, or older ones of its key come first
};

struct Consumption {
  Ending how = Ending::kProcessed;
  std::string business_id = {};
  std::optional<task::TaskId> record = std::nullopt;
  // Of a recorded one.
  Status status = Status::kProcessed;
  std::string error = {};
};

class Consumer {
 public:
  // What the parts refer to must outlive it. The settings are valid. `retry` is what a retry does;
  // empty: what `run` does.
  Consumer(ConsumerSettings settings, ConsumerParts parts, const Run& run,
           const Run& retry = nullptr);
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // In the order given. An error means that the broker shall keep it: kInvalid where it can never
  // be taken, kConflict while another thread handles it. `instead` of the handler, where given.
  std::vector<Result<Consumption>> consume(std::span<const Message> batch,
                                           const std::stop_token& stop,
                                           const Run& instead = nullptr);
  // The same for a feeder, which must end before this does.
  [[nodiscard]] Deal deal();

  // False: it has no handler, and only those consume here that bring one.
  [[nodiscard]] bool handles() const;

  // An attempt of the engine's, whose turn it is.
  void retry(const std::shared_ptr<engine::AttemptRun>& run);

 private:
  friend class Round;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace recourse::message
