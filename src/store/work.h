// What goes into the verbs that move work, and what comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/history.h"
#include "store/limits.h"
#include "task/control.h"
#include "task/ids.h"
#include "task/ownership.h"
#include "task/record.h"
#include "task/state.h"
#include "task/transition.h"

namespace recourse::store {

// A task that exists already owned by the node that submits it: its life costs two writes, not
// three.
struct BirthClaim {
  task::Incarnation owner;
  task::LeaseId lease;
};

struct Submission {
  // Made by the submitter, so that repeating is harmless.
  task::TaskId id;
  task::TaskSpec spec;
  // From the store's now.
  Duration delay{};
  // Only where delay is zero.
  std::optional<BirthClaim> claim;
};

enum class Novelty : std::uint8_t {
  kFresh,   // these ids were made for this very call
  kRepeat,  // they may have been sent before, and be finished by now: the archive is asked too
};

enum class Insertion : std::uint8_t {
  kInserted,
  kRepeated,  // this id is there already, or has been
  kKeyTaken,  // another unfinished task has this unique key
  kKeyBusy,   // another transaction is about to decide on this key: repeat alone, to wait for it
};

struct Inserted {
  Insertion result;
  // The submitted one, or the one that has the key.
  task::TaskId task;
  // The row carries the fence and lease id of the birth claim: only then may the submitter run it.
  bool still_mine = false;
};

struct InsertAnswer {
  TimePoint now;  // the store's
  std::vector<Inserted> items;
};

struct Quota {
  task::Kind kind;
  int limit = 0;
  // At most this many of one tenant while others wait; zero means first come, first served.
  int tenant_max = 0;
};

// Inclusive.
struct ShardRange {
  int first = 0;
  int last = kShards - 1;

  [[nodiscard]] constexpr bool is_all() const { return first <= 0 && last >= kShards - 1; }
  [[nodiscard]] constexpr bool has(int shard) const { return shard >= first && shard <= last; }
};

struct ClaimRequest {
  task::Owner owner;
  // Random, chosen before the call is sent.
  task::LeaseId lease;
  // For a worker: how long it may hold them, by the store's clock. A node's leases end with it.
  std::optional<Duration> lease_for;
  // Kinds that are not named are not claimed. Asked in this order.
  std::vector<Quota> quotas;
  int limit = 0;
  ShardRange shards;
};

struct Claimed {
  TimePoint now;  // the store's
  std::vector<task::Task> tasks;
};

struct Outcome {
  task::Transition transition;
  // Written with it. An uneventful life needs none: its archive row tells it.
  std::optional<Attempt> attempt;
  // What the handler said last, written with it too.
  std::vector<Note> notes = {};
};

struct Applied {
  task::WriteVerdict verdict;
  // As the row stands now; a person's request may have been carried out instead of the move asked
  // for. Empty where refused.
  std::optional<task::State> state;
};

// What an owner shows to act on a task.
struct Held {
  task::TaskId task;
  task::Ticket ticket;
};

// What a handler said, under the ticket it runs with.
struct Jotting {
  task::Ticket ticket;
  Note note;
};

// Which tasks a person means.
struct Filter {
  // Empty lists mean any.
  std::vector<task::State> states;
  std::vector<task::Kind> kinds;
  std::optional<task::Tenant> tenant;
  std::optional<task::UniqueKey> unique_key;
  // A search key's name and value.
  std::optional<std::pair<std::string, std::string>> search_key;
  // Half open.
  std::optional<TimePoint> created_from;
  std::optional<TimePoint> created_before;
};

struct ByFilter {
  Filter filter;
  // Freezes the membership: what was created, or came before a person, later is not caught.
  TimePoint as_of;
  // Goes on after the last one of the page before; newest first.
  std::optional<task::TaskId> after;
  std::size_t limit = kBatchRowsMax;
};

using Selection = std::variant<std::vector<task::TaskId>, ByFilter>;

struct ControlItem {
  task::TaskId task;
  // Why not, where it was refused or not found.
  Result<task::Effect> effect;
};

struct ControlAnswer {
  std::vector<ControlItem> items;
  // Where to go on; empty when the filter's end is reached, and always for ids.
  std::optional<task::TaskId> next;
};

struct PurgeRequest {
  // Empty: what is finished and past its retention. Otherwise tasks in exactly these states that
  // ended before `ended_before`; the only way to delete failures.
  std::vector<task::State> states;
  std::optional<task::Kind> kind;
  std::optional<TimePoint> ended_before;
  std::size_t limit = kPurgeRowsMax;
  std::string by;
};

}  // namespace recourse::store
