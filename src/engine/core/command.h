// What the core wants done. The shell carries commands out on its threads and answers with events;
// it decides nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/core/event.h"
#include "engine/core/happening.h"
#include "store/node.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::engine {

// --- the store; each is answered by its event ---

struct Insert {
  CallId call;
  std::vector<store::Submission> batch;
  store::Novelty novelty;
  // One alone, which waits for whoever holds its unique key, on a line where that holds nobody up.
  bool may_wait = false;
  Duration within;
};
struct Claim {
  CallId call;
  store::ClaimRequest request;
  Duration within;
};
struct Apply {
  CallId call;
  std::vector<store::Outcome> batch;
  Duration within;
};
struct RecordStarts {
  CallId call;
  std::vector<store::Held> batch;
  Duration within;
};
struct Join {
  CallId call;
  store::NodeInfo node;
  Duration within;
};
// On a connection of its own.
struct Heartbeat {
  CallId call;
  task::Incarnation node;
  std::int64_t pauses_seen = 0;
  Duration within;
};
struct ReadNodes {
  Duration within;
};
struct DeclareDead {
  task::Incarnation node;
  std::int64_t beat_seen = 0;
  Duration within;
};
struct Adopt {
  Duration within;
};
struct ReadHeld {
  task::Incarnation node;
  Duration within;
};
struct ReadTasks {
  std::vector<task::TaskId> ids;
  Duration within;
};
struct ReadCounts {
  Duration within;
};
// On a line that nobody waits for.
struct WriteNotes {
  CallId call;
  std::vector<store::Jotting> batch;
  Duration within;
};

// --- attempts ---

struct Start {
  AttemptId attempt;
  // The same for all who look at it; nobody changes it.
  std::shared_ptr<const task::Task> task;
  // 1, 2, 3, ... over the task's whole life.
  int number = 1;
  // Its deadline, by the core's time: not called later.
  TimePoint start_by = kNever;
  // Ask first whether it is already done.
  bool probe_first = false;
};
// One thread calls them in turn: where handlers are short, waking a thread costs more than a call.
struct Run {
  std::vector<Start> in_turn;
};
// Takes an attempt back whose handler has not been called. Decided before the next command is
// carried out, and answered by AttemptEnded with NotStarted, or by AttemptBegun.
struct Recall {
  AttemptId attempt;
};
// Why a running handler is told to stop.
enum class StopReason : std::uint8_t {
  kTimeout,    // decided already: a result is discarded
  kCancelled,  // a person asked; the handler may still finish
  kCutOff,     // the node is about to end
};
struct StopAttempt {
  AttemptId attempt;
  StopReason reason;
};
// No handler may be called at or after this moment, whatever was started before.
struct SetStartLimit {
  TimePoint limit;
};

// --- other nodes ---

// Something of this node's may be due for them.
struct HintOthers {};

// --- callers ---

struct SubmitAnswer {
  SubmitId submit;
  // kInDoubt: it may exist under this id; submitting it again is harmless.
  task::TaskId task;
  Result<store::Insertion> result;
};
struct AnswerSubmits {
  std::vector<SubmitAnswer> answers;
};
// The node has left: nothing more will come.
struct Stopped {
  int released = 0;
  int finished = 0;
  int cut_off = 0;
};

using Command =
    std::variant<Insert, Claim, Apply, RecordStarts, Join, Heartbeat, ReadNodes, DeclareDead, Adopt,
                 ReadHeld, ReadTasks, ReadCounts, WriteNotes, Run, Recall, StopAttempt,
                 SetStartLimit, HintOthers, AnswerSubmits, Stopped, Happening>;

using Commands = std::vector<Command>;

}  // namespace recourse::engine
