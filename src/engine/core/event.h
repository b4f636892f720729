// What the core is told: answers of the store, ends of attempts, wishes of callers.
//
// An answer brings back what the command handed out, so that nothing is kept, or copied, twice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "base/time.h"
#include "policy/decision.h"
#include "policy/failure.h"
#include "store/node.h"
#include "store/reader.h"
#include "store/work.h"
#include "task/ids.h"

namespace recourse::engine {

using CallId = Strong<struct CallTag, std::uint64_t>;
using AttemptId = Strong<struct AttemptTag, std::uint64_t>;
// Who waits for a submit's answer.
using SubmitId = Strong<struct SubmitTag, std::uint64_t>;
// Nobody outside does: the core's own submits, never given to the shell. Callers' ids are addresses
// and small numbers.
inline constexpr SubmitId kOwnSubmit{};  // of its schedules
inline constexpr std::uint64_t kFollowUpBit = std::uint64_t{1} << 63;

// --- callers ---

struct Submit {
  SubmitId submit;
  // Without a birth claim: that is the core's to decide.
  store::Submission submission;
  // kRepeat where its submitter has sent this id before, to this node or another: it may be
  // finished by now, and must not run again.
  store::Novelty novelty = store::Novelty::kFresh;
};

// Something may be due in the store: a hint, never the truth.
struct WorkHint {
  // From now on.
  Duration in = Duration::zero();
};
// People asked for something that concerns this node: the next heartbeat comes at once.
struct RequestHint {};

struct StopRequest {
  // How long running attempts are waited for.
  Duration limit;
};

// --- the store ---

struct InsertEnded {
  CallId call;
  std::vector<store::Submission> batch;
  Result<store::InsertAnswer> answer;
};
struct ClaimEnded {
  CallId call;
  Result<store::Claimed> answer;
};
struct ApplyEnded {
  CallId call;
  std::vector<store::Outcome> batch;
  Result<std::vector<store::Applied>> answer;
};
struct StartsEnded {
  CallId call;
  std::vector<store::Held> batch;
  Result<std::vector<bool>> answer;
};
struct JoinEnded {
  CallId call;
  Result<store::Joined> answer;
};
struct HeartbeatEnded {
  CallId call;
  Result<store::Pulse> answer;
};
struct NodesRead {
  Result<std::vector<store::NodeRow>> answer;
};
struct DeclareEnded {
  task::Incarnation node;
  Result<bool> answer;
};
struct AdoptEnded {
  Result<store::Adopted> answer;
};
// What the store says an incarnation owns.
struct HeldRead {
  task::Incarnation node;
  Result<std::vector<store::Held>> answer;
};
// Those that still exist.
struct TasksRead {
  Result<std::vector<task::Task>> answer;
};
struct CountsRead {
  Result<store::Counts> answer;
};

// --- attempts ---

struct Succeeded {};
struct Failed {
  policy::Failure failure;
};
// The handler knows what is to become of it.
struct Decided {
  policy::Decision decision;
  // False: it found that it has to wait, and did nothing. No attempt is counted, and the breaker
  // hears nothing of it.
  bool attempted = true;
};
// Whom the handler called goes on with it, and reports under the attempt's own ticket.
struct HandedOver {
  task::WorkerName to;
  Duration lease_for;
};
// The executor looked once more before the call: fenced, cancelled or stopped by then.
struct NotStarted {};

using AttemptResult = std::variant<Succeeded, Failed, Decided, HandedOver, NotStarted>;

struct AttemptEnded {
  AttemptId attempt;
  AttemptResult result;
  // How long the handler really took; empty where nobody measured, and the core's own times count.
  std::optional<Duration> took = std::nullopt;
  // To be in the store before the task's own end is.
  std::vector<store::Submission> follow_ups = {};
};
// It was to be recalled, but its handler had been called.
struct AttemptBegun {
  AttemptId attempt;
  // By the core's time.
  TimePoint at;
};

// What a handler says while it runs.
struct Said {
  // In millionths of the whole.
  std::optional<int> progress;
  std::string text;
};
class NotePad {
 public:
  virtual ~NotePad() = default;
  // All that was written since it was last taken.
  virtual std::vector<Said> take() = 0;
};
// Sent once until the pad is taken: a handler that writes in a loop fills its pad, which is
// bounded, and not the way to the core.
struct AttemptNoted {
  AttemptId attempt;
  std::shared_ptr<NotePad> pad;
};
struct NotesEnded {
  CallId call;
  Result<std::vector<bool>> answer;
};

using Event = std::variant<Submit, WorkHint, RequestHint, StopRequest, InsertEnded, ClaimEnded,
                           ApplyEnded, StartsEnded, JoinEnded, HeartbeatEnded, NodesRead,
                           DeclareEnded, AdoptEnded, HeldRead, TasksRead, CountsRead, NotesEnded,
                           AttemptEnded, AttemptBegun, AttemptNoted>;

}  // namespace recourse::engine
