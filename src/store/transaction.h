// What a backend can do inside one transaction: the few steps all verbs are made of. The verbs
// (insert.cc, claim.cc, ...) are written once, over this, so that no rule exists twice.
//
// SQL knows only "which rows are due" and "is this still mine"; everything else is decided in C++
// between a lock and a write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/cases.h"
#include "store/creates.h"
#include "store/history.h"
#include "store/inbox.h"
#include "store/node.h"
#include "store/records.h"
#include "store/work.h"
#include "task/ids.h"
#include "task/record.h"
#include "task/state.h"
#include "task/transition.h"

namespace recourse::store {

// created_at and due_at are missing: the store's clock gives them, in the statement that inserts.
struct NewTask {
  task::TaskId id;
  // The submitter's own, not a copy: it outlives the transaction.
  const task::TaskSpec* spec = nullptr;
  Duration delay{};
  task::State state = task::State::kPending;
  task::Ticket ticket;
  std::optional<task::Owner> owner;
};

// What the transaction that writes found in the archive.
struct ArchivedTicket {
  task::TaskId task;
  task::Ticket ticket;
  task::State state;
};

struct Finish {
  // The decider's own; it outlives the transaction.
  const task::Transition* transition;
  // When the archive may forget it.
  TimePoint expires_at;
};

// A task that is finished, for rows that were locked before.
struct Finished {
  task::Task task;
  TimePoint expires_at;
};

struct CountChange {
  task::Kind kind;
  task::State state;
  std::int64_t by = 0;
};

struct Candidate {
  task::TaskId task;
  task::Tenant tenant;
  int priority = 0;
  TimePoint available_at;
};

// How much take_due may take of a kind.
struct Share {
  task::Kind kind;
  int limit = 0;
  // Instead of it, where no more than one priority of the kind has anything due: by priority and by
  // age are one order then, and nothing has to be set aside for the oldest.
  int limit_alone = 0;
};

struct Shares {
  std::vector<Share> kinds;
  // Of all kinds together.
  int limit = 0;
};

struct Taken {
  task::Task task;    // as claimed
  task::State from;   // running where a worker's lease had ended
  std::string owner;  // whose lease that was
};

struct TakenBatch {
  TimePoint now;  // the store's
  std::vector<Taken> tasks;
};

struct KeyHolder {
  task::Account account;
  task::TaskId task;
};

// expires_at is missing: the store's clock gives it, in the statement that inserts.
struct NewMark {
  // The caller's own, not a copy: it outlives the transaction.
  const MessageKey* key = nullptr;
  std::optional<task::TaskId> task;
  Duration keep_for{};
};

enum class KeyPatience : std::uint8_t { kBriefly, kUntilDeadline };

class Transaction {
 public:
  virtual ~Transaction() = default;

  // The store's clock.
  virtual Result<TimePoint> now() = 0;

  // --- inserting ---
  // Gives each account to the task named with it unless another unfinished task has it; answers who
  // has it afterwards, in the order given. Accounts are distinct and ascending. kExhausted: another
  // transaction is about to decide on one of them, and patience ran out; the transaction is lost.
  virtual Result<std::vector<task::TaskId>> take_keys(std::span<const KeyHolder> wanted,
                                                      KeyPatience patience) = 0;
  virtual Result<> release_keys(std::span<const task::Account> accounts) = 0;
  // Inserts those whose id is not there yet, with their search keys. Ids ascend and are distinct.
  // Answers the store's now and which of them are new, in the order given.
  struct InsertedRows {
    TimePoint now;
    std::vector<bool> fresh;
  };
  virtual Result<InsertedRows> insert_tasks(std::span<const NewTask> tasks) = 0;
  virtual Result<std::vector<ArchivedTicket>> find_archived(std::span<const task::TaskId> ids) = 0;
  // From the hot table, with nothing left behind but what the archive keeps.
  virtual Result<> remove_tasks(std::span<const task::TaskId> ids) = 0;

  // --- claiming ---
  // Takes what is due, kind by kind in the order given, larger priorities first, oldest first
  // within one; skips what others have locked. Answers the rows as claimed. How much goes by
  // `shares`; who takes it, and from which shards, by `request`.
  virtual Result<TakenBatch> take_due(const ClaimRequest& request, const Shares& shares) = 0;
  // The oldest due of a kind, up to `window` of each priority, without locking them.
  virtual Result<std::vector<Candidate>> due_candidates(const task::Kind& kind,
                                                        const ShardRange& shards,
                                                        std::size_t window) = 0;
  // Like take_due, for those of `ids` that are still due and not locked.
  virtual Result<TakenBatch> take(const ClaimRequest& request,
                                  std::span<const task::TaskId> ids) = 0;

  // --- writing ---
  // Writes each transition whose row carries its ticket and no request; the answer says which.
  // None of them finishes the task. Ids ascend and are distinct.
  virtual Result<std::vector<bool>> write_moves(std::span<const task::Transition* const> moves) = 0;
  // The same for transitions that finish a task: its row moves to the archive and its unique key is
  // free again.
  virtual Result<std::vector<bool>> write_finishes(std::span<const Finish> finishes) = 0;
  // Locks rows of the hot table until the end, in ascending order, and reads them without their
  // payloads; those that are gone are left out.
  virtual Result<std::vector<task::Task>> lock(std::span<const task::TaskId> ids) = 0;
  // Overwrites rows that were locked before: everything but what is fixed at submission.
  virtual Result<> write_rows(std::span<const task::Task> tasks) = 0;
  virtual Result<> write_payload(task::TaskId id, std::string_view payload) = 0;
  // Moves rows that were locked before to the archive, as they are to stand there (the payload
  // stays as it is), and frees their unique keys.
  virtual Result<> archive_rows(std::span<const Finished> tasks) = 0;
  // Conditional on the ticket; no fence is raised. Answers which were written.
  virtual Result<std::vector<bool>> write_starts(std::span<const Held> held) = 0;
  virtual Result<std::vector<bool>> write_lease_ends(std::span<const Held> held, TimePoint end) = 0;

  // --- finding ---
  // Ids of the hot table that match, newest first, created and ended no later than `as_of`. Looks
  // at no more than kPageLooksMax rows; `next` says where to go on.
  struct Found {
    std::vector<task::TaskId> ids;
    std::optional<task::TaskId> next;
  };
  virtual Result<Found> find_live(const ByFilter& which) = 0;
  // Locks up to `limit` rows of this owner, like lock(); skips what others have locked.
  virtual Result<std::vector<task::Task>> lock_owned(const task::Owner& owner,
                                                     std::size_t limit) = 0;
  // Nodes that own tasks, but are dead or unknown.
  virtual Result<std::vector<task::Incarnation>> lifeless_owners() = 0;

  // --- nodes ---
  virtual Result<> insert_node(const NodeInfo& node) = 0;
  // False where the node is dead or unknown.
  virtual Result<bool> beat(task::Incarnation node, std::int64_t pauses_seen) = 0;
  enum class Death : std::uint8_t { kDeclared, kAlready, kAlive };
  // One locked write: dead where it is alive and has not beaten since; an unknown node is kAlready.
  virtual Result<Death> mark_dead(task::Incarnation node, std::int64_t beat_seen) = 0;
  virtual Result<std::vector<ControlRequest>> requests_for(const task::Owner& owner) = 0;
  virtual Result<Pauses> pauses() = 0;
  virtual Result<std::int64_t> set_pause(const task::Kind& kind, bool paused,
                                         std::string_view by) = 0;

  // --- the books; an error may show only at commit ---
  virtual Result<> add_counts(std::span<const CountChange> changes) = 0;
  // Takes counts that other connections keep, or kept before they died, into those of this one when
  // there have come to be many. Safe at any time.
  virtual Result<> fold_counts() = 0;
  // Keeps the newest kAttemptsKept of each task.
  virtual Result<> add_attempts(std::span<const Attempt> attempts) = 0;
  virtual Result<> add_audit(std::span<const AuditEntry> entries) = 0;
  // Those that are not there yet; keeps the newest kNotesKept of each task. Their rows are locked,
  // or were written by this transaction.
  virtual Result<> add_notes(std::span<const Note> notes) = 0;

  // --- cases ---
  // Takes the place of one that a node of an older version, which knows of none, left behind.
  virtual Result<> open_cases(std::span<const Case> cases) = 0;
  virtual Result<> close_cases(std::span<const task::TaskId> tasks) = 0;
  // Locks those whose reminder is due, the longest due first; skips what others have locked.
  virtual Result<std::vector<Case>> lock_due_cases(TimePoint now, std::size_t limit) = 0;
  // Those that there are, by task. The ids ascend.
  virtual Result<std::vector<Case>> lock_cases(std::span<const task::TaskId> tasks) = 0;
  // Of those that were locked before: what changes while they are open.
  virtual Result<> write_cases(std::span<const Case> cases) = 0;
  virtual Result<std::vector<Case>> list_cases(const std::optional<std::string>& assignee,
                                               std::optional<task::TaskId> after,
                                               std::size_t limit) = 0;
  // Rows of the hot table as they stand, without a lock and without their payloads.
  virtual Result<std::vector<task::Task>> peek(std::span<const task::TaskId> ids) = 0;

  // --- records; what has expired is still seen here ---
  // Where it is there, it stays as it is until the end.
  virtual Result<std::optional<Record>> lock_record(std::string_view space,
                                                    std::string_view name) = 0;
  // kConflict where somebody else was faster.
  virtual Result<> insert_record(const Record& record) = 0;
  // Of one that was locked before.
  virtual Result<> write_record(const Record& record) = 0;
  virtual Result<bool> delete_record(std::string_view space, std::string_view name) = 0;
  // By name, after the one given.
  virtual Result<std::vector<Record>> list_records(std::string_view space, std::string_view after,
                                                   std::size_t limit) = 0;
  virtual Result<std::size_t> delete_records_before(TimePoint time, std::size_t limit) = 0;

  // --- keys of create calls; what has expired is still seen here ---
  // Where the key is not there yet: as it was inserted. Empty: it is there. kConflict where
  // somebody else was faster.
  virtual Result<std::optional<Creation>> insert_creation(const CreateAsk& ask) = 0;
  // As it stands, without a lock.
  virtual Result<std::optional<Creation>> find_creation(const CreateKey& key) = 0;
  // Until the end. Empty: it is gone, or somebody else has it locked.
  virtual Result<std::optional<Creation>> lock_creation(const CreateKey& key) = 0;
  // Of one that was locked before: for its next holder.
  virtual Result<> write_creation(const Creation& creation) = 0;
  // Only while the hold lasts; the answer says so.
  virtual Result<bool> end_creation(const CreateHold& hold, const CreateEnd& end) = 0;
  virtual Result<std::size_t> delete_creations_before(TimePoint time, std::size_t limit) = 0;

  // --- marks of messages; what has expired is still seen here ---
  // In the order given.
  virtual Result<std::vector<std::optional<Seen>>> find_marks(std::span<const MessageKey> keys) = 0;
  // Inserts those whose key is not there yet; keys ascend and are distinct. Waits for a transaction
  // that is about to mark one of them. Answers which are new, in the order given.
  virtual Result<std::vector<bool>> insert_marks(std::span<const NewMark> marks) = 0;
  // Keys ascend and are distinct. Answers how many there were.
  virtual Result<std::size_t> delete_marks(std::span<const MessageKey> keys) = 0;
  virtual Result<std::size_t> delete_marks_before(TimePoint time, std::size_t limit) = 0;

  // --- forgetting ---
  // Finished tasks to be purged, locked, oldest first. By retention where `request.states` is
  // empty, else by state and age.
  struct Purgeable {
    task::TaskId task;
    task::Kind kind;
    task::State state;
  };
  virtual Result<std::vector<Purgeable>> lock_purgeable(const PurgeRequest& request) = 0;
  // Their rows, cases, attempts, audit, notes and search keys, wherever they are.
  virtual Result<> forget(std::span<const task::TaskId> ids) = 0;
};

}  // namespace recourse::store
