// Every change of stored work, as a dozen verbs.
//
// Each call is one bounded batch and one transaction: on an error nothing of it happened, except
// where the error is kInDoubt. `within` bounds the whole call, waiting included. Errors say what to
// do: kInvalid correct the request, kConflict decide again, kUnavailable try later, kInDoubt ask
// again under the same ids, kCorrupt stop and tell a person.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/node.h"
#include "store/work.h"
#include "task/control.h"
#include "task/ids.h"

namespace recourse::store {

class Store {
 public:
  virtual ~Store() = default;

  // Each task exists once, whatever is repeated; answers in the order given. Of several unfinished
  // tasks with one unique key only the first exists, and the others are told its id.
  // One whose key somebody else's open transaction holds is left out, and answered kKeyBusy.
  virtual Result<InsertAnswer> insert(std::span<const Submission> batch, Novelty novelty,
                                      Duration within) = 0;
  // The same of one alone, which waits for whoever holds its key.
  virtual Result<InsertAnswer> insert_alone(const Submission& submission, Novelty novelty,
                                            Duration within) = 0;
  // Hands out what is due by the store's clock, and nobody else gets it while its owner lives (a
  // worker: until its lease ends). Larger priorities first, but a tenth goes to the oldest of any.
  virtual Result<Claimed> claim(const ClaimRequest& request, Duration within) = 0;
  // Writes outcomes of owners, each only while the row carries its ticket; a refused one changes no
  // column. Repeating is recognised. A person's request in the row is carried out instead.
  virtual Result<std::vector<Applied>> apply(std::span<const Outcome> batch, Duration within) = 0;
  // Before a handler runs again after a takeover. False: it is not yours any more, do not start.
  virtual Result<std::vector<bool>> record_starts(std::span<const Held> batch, Duration within) = 0;
  // New lease ends for a worker's tasks, by the store's clock; empty: it is not yours any more.
  virtual Result<std::vector<std::optional<TimePoint>>> renew(std::span<const Held> batch,
                                                              Duration lease_for,
                                                              Duration within) = 0;
  // Keeps what handlers said, each only while the row carries its ticket, or the outcome written
  // under it. False: somebody else has the task. Repeating is recognised.
  virtual Result<std::vector<bool>> note(std::span<const Jotting> batch, Duration within) = 0;

  // A node exists from here on, before it claims anything.
  virtual Result<Joined> join(const NodeInfo& node, Duration within) = 0;
  // Renews everything the node holds. kConflict: it was declared dead; drop what has not started
  // and join as a new incarnation. `pauses_seen` is the number of the list the node acts by.
  virtual Result<Pulse> heartbeat(task::Incarnation node, std::int64_t pauses_seen,
                                  Duration within) = 0;
  // True: dead from here on, for ever, by this call or an earlier one. False: it has beaten since
  // `beat_seen` was read.
  virtual Result<bool> declare_dead(task::Incarnation node, std::int64_t beat_seen,
                                    std::string_view by, Duration within) = 0;
  // Frees tasks whose owning node is dead or unknown, and folds its counts.
  virtual Result<Adopted> adopt(std::string_view by, Duration within) = 0;

  // What people want: done, requested of the owner, or refused with the reason, per task.
  virtual Result<ControlAnswer> control(const Selection& which, const task::Order& order,
                                        std::string_view by, Duration within) = 0;
  // Answers the number that every live node has to confirm. The reason is for the audit.
  virtual Result<std::int64_t> pause_kind(const task::Kind& kind, bool paused, std::string_view by,
                                          Duration within, std::string_view reason = {}) = 0;
  // Deletes finished tasks past their retention, with all that is remembered of them, and leaves
  // one audit row. Answers how many; as many as the limit means there may be more.
  virtual Result<std::size_t> purge(const PurgeRequest& request, Duration within) = 0;
};

}  // namespace recourse::store
