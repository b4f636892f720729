// Which messages have been dealt with: a mark for each, kept for a while, so that one that a broker
// delivers again is recognised. A mark and the task that goes on with the message are written in
// one transaction: a message redelivered any number of times makes one task, and none is
// acknowledged that is neither done nor recorded.
//
// Keys that grow with time (a broker's own positions) lie side by side, which makes marks cheap.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "base/time.h"
#include "store/guest.h"
#include "store/work.h"
#include "task/ids.h"

namespace recourse::store {

inline constexpr std::size_t kMessageKeyBytesMax = 40;

// Any bytes; what makes a message one and the same is its maker's business.
using MessageKey = Strong<struct MessageKeyTag, std::string>;

// A message that was dealt with.
struct Seen {
  // Who went on with it; empty: it was done at once.
  std::optional<task::TaskId> task = std::nullopt;

  friend bool operator==(const Seen&, const Seen&) = default;
};

// A message that is to be marked.
struct Dealt {
  MessageKey key;
  // How long it is remembered at least, from the store's now: up to kLongestWait.
  Duration keep_for;
  // Who goes on with it. Empty: it is done.
  std::optional<Submission> task = std::nullopt;
  // Its first attempt, where that has been made already: the task is born claimed then (its claim
  // is given), this outcome is under the ticket of that claim, and nobody sees the task before it
  // is applied.
  std::optional<Outcome> tried = std::nullopt;
};

// What became of one.
struct Marked {
  // False: it was marked before this call, and nothing of it was written.
  bool is_new = false;
  // As it stands now.
  Seen seen = {};
};

class Inbox {
 public:
  virtual ~Inbox() = default;

  // In the order given; empty where there is no mark. Costs no flush. At most kBatchRowsMax.
  virtual Result<std::vector<std::optional<Seen>>> look_up(std::span<const MessageKey> keys,
                                                           Duration within) = 0;
  // All of them in one transaction, answered in the order given; keys are distinct, and so are the
  // tasks' ids, which were made for this call. At most kBatchRowsMax, and kBatchBytesMax of their
  // tasks, which have no unique keys. Waits for whoever is about to mark one of them. What this
  // call has written is new, also where the reply to its COMMIT was lost and it has found its own
  // marks. (A mark without a task looks like anybody's: one that another caller wrote after such a
  // loss is taken for its own, and says the same.)
  virtual Result<std::vector<Marked>> mark(std::span<const Dealt> batch, Duration within) = 0;
  // So that it can be dealt with anew. Answers how many marks there were.
  virtual Result<std::size_t> forget(std::span<const MessageKey> keys, Duration within) = 0;
  // Deletes up to `limit` marks whose time is over, at most kPageRowsMax; answers how many. Until
  // then they count.
  virtual Result<std::size_t> sweep(std::size_t limit, Duration within) = 0;
};

// The mark of a message that is done, inside of a guest's own transaction: it is there if, and only
// if, that commits. kConflict where it was marked before: the transaction can only be rolled back.
// Whoever marks it elsewhere waits for its end. kInvalid on a store in memory.
Result<> mark_within(Guest& guest, const MessageKey& key, TimePoint expires_at);

}  // namespace recourse::store
