// The steps of a transaction in SQL that SQLite, MariaDB and PostgreSQL all understand. Where a
// database has something faster, its own transaction overrides the step.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/connection.h"
#include "store/relational/rows.h"
#include "store/transaction.h"

namespace recourse::store::relational {

// The few words in which the databases differ.
struct Dialect {
  // Yields the time in microseconds since 1970.
  std::string_view now;
  // The table of live work where it is read by id, by what is due, by owner: with the index named
  // where the planner of a young table would scan it all and wait for rows that it does not want.
  std::string_view task_by_id;
  std::string_view task_by_due;
  std::string_view task_by_owner;
  // After a SELECT.
  std::string_view for_update;
  std::string_view skip_locked;
  // After a DELETE by a list of ids, for the same reason.
  std::string_view after_delete;
  // Values stripe, kind, state, n: adds n where the row exists.
  std::string_view add_count;
  // The table of marks, read by key.
  std::string_view mark_by_id;
  // After an INSERT of a case: takes the place of one that is there.
  std::string_view or_replace_case;
};

// What one connection is for all its transactions.
struct Seat {
  sql::Connection& connection;
  const Dialect& dialect;
  // Under which it keeps its counts, so that no two connections wait for one row.
  Ulid stripe;
};

class RelationalTransaction : public Transaction {
 public:
  // The first run of a transaction takes for granted that ids and keys are new; when that proves
  // wrong it loses a race with the past, and the next run looks first.
  enum class Care : std::uint8_t { kHopeful, kCareful };

  RelationalTransaction(const Seat& seat, Care care) : seat_(seat), care_(care) {}

  Result<TimePoint> now() override;

  Result<std::vector<task::TaskId>> take_keys(std::span<const KeyHolder> wanted,
                                              KeyPatience patience) override;
  Result<> release_keys(std::span<const task::Account> accounts) override;
  Result<InsertedRows> insert_tasks(std::span<const NewTask> tasks) override;
  Result<std::vector<ArchivedTicket>> find_archived(std::span<const task::TaskId> ids) override;
  Result<> remove_tasks(std::span<const task::TaskId> ids) override;

  Result<TakenBatch> take_due(const ClaimRequest& request, const Shares& shares) override;
  Result<std::vector<Candidate>> due_candidates(const task::Kind& kind, const ShardRange& shards,
                                                std::size_t window) override;
  Result<TakenBatch> take(const ClaimRequest& request, std::span<const task::TaskId> ids) override;

  Result<std::vector<bool>> write_moves(std::span<const task::Transition* const> moves) override;
  Result<std::vector<bool>> write_finishes(std::span<const Finish> finishes) override;
  Result<std::vector<task::Task>> lock(std::span<const task::TaskId> ids) override;
  Result<> write_rows(std::span<const task::Task> tasks) override;
  Result<> write_payload(task::TaskId id, std::string_view payload) override;
  Result<> archive_rows(std::span<const Finished> tasks) override;
  Result<std::vector<bool>> write_starts(std::span<const Held> held) override;
  Result<std::vector<bool>> write_lease_ends(std::span<const Held> held, TimePoint end) override;

  Result<Found> find_live(const ByFilter& which) override;
  Result<std::vector<task::Task>> lock_owned(const task::Owner& owner, std::size_t limit) override;
  Result<std::vector<task::Incarnation>> lifeless_owners() override;

  Result<> insert_node(const NodeInfo& node) override;
  Result<bool> beat(task::Incarnation node, std::int64_t pauses_seen) override;
  Result<Death> mark_dead(task::Incarnation node, std::int64_t beat_seen) override;
  Result<std::vector<ControlRequest>> requests_for(const task::Owner& owner) override;
  Result<Pauses> pauses() override;
  Result<std::int64_t> set_pause(const task::Kind& kind, bool paused, std::string_view by) override;

  Result<> add_counts(std::span<const CountChange> changes) override;
  Result<> fold_counts() override;
  Result<> add_attempts(std::span<const Attempt> attempts) override;
  Result<> add_audit(std::span<const AuditEntry> entries) override;
  Result<> add_notes(std::span<const Note> notes) override;

  Result<> open_cases(std::span<const Case> cases) override;
  Result<> close_cases(std::span<const task::TaskId> tasks) override;
  Result<std::vector<Case>> lock_due_cases(TimePoint now, std::size_t limit) override;
  Result<std::vector<Case>> lock_cases(std::span<const task::TaskId> tasks) override;
  Result<> write_cases(std::span<const Case> cases) override;
  Result<std::vector<Case>> list_cases(const std::optional<std::string>& assignee,
                                       std::optional<task::TaskId> after,
                                       std::size_t limit) override;
  Result<std::vector<task::Task>> peek(std::span<const task::TaskId> ids) override;

  Result<std::optional<Record>> lock_record(std::string_view space, std::string_view name) override;
  Result<> insert_record(const Record& record) override;
  Result<> write_record(const Record& record) override;
  Result<bool> delete_record(std::string_view space, std::string_view name) override;
  Result<std::vector<Record>> list_records(std::string_view space, std::string_view after,
                                           std::size_t limit) override;
  Result<std::size_t> delete_records_before(TimePoint time, std::size_t limit) override;

  Result<std::optional<Creation>> insert_creation(const CreateAsk& ask) override;
  Result<std::optional<Creation>> find_creation(const CreateKey& key) override;
  Result<std::optional<Creation>> lock_creation(const CreateKey& key) override;
  Result<> write_creation(const Creation& creation) override;
  Result<bool> end_creation(const CreateHold& hold, const CreateEnd& end) override;
  Result<std::size_t> delete_creations_before(TimePoint time, std::size_t limit) override;

  Result<std::vector<std::optional<Seen>>> find_marks(std::span<const MessageKey> keys) override;
  Result<std::vector<bool>> insert_marks(std::span<const NewMark> marks) override;
  Result<std::size_t> delete_marks(std::span<const MessageKey> keys) override;
  Result<std::size_t> delete_marks_before(TimePoint time, std::size_t limit) override;

  Result<std::vector<Purgeable>> lock_purgeable(const PurgeRequest& request) override;
  Result<> forget(std::span<const task::TaskId> ids) override;

 protected:
  // Of those that were done.
  Result<> release_keys_of(std::span<const Finish> finishes, const std::vector<bool>& done);
  [[nodiscard]] sql::Connection& connection() { return seat_.connection; }
  [[nodiscard]] const Seat& seat() const { return seat_; }
  [[nodiscard]] Care care() const { return care_; }

  Result<> add_search_keys(std::span<const NewTask> tasks, const std::vector<bool>& fresh);
  Result<std::vector<task::Task>> tasks_of(std::string_view statement, const Values& values);
  // Their unique keys are free again; the rows of the hot table are somebody else's matter.
  Result<> add_to_archive(std::span<const Finished> tasks);
  // Nothing older than this is looked for among what is due.
  virtual TimePoint first_look(const task::Kind& /*kind*/, int /*priority*/) {
    return TimePoint::min();
  }
  // One time for all steps of a claim, asked once.
  Result<TimePoint> claim_time();
  void set_claim_time(TimePoint time) { claim_time_ = time; }
  [[nodiscard]] bool has_claim_time() const { return claim_time_.has_value(); }
  // Which priorities of a kind have something due at the time of the claim, or may have: larger
  // first. Read without a lock, so that nothing is locked that will not be taken.
  virtual Result<std::vector<int>> due_priorities(const task::Kind& kind);
  // How rows were found: the `found` that became available first, of one kind and priority.
  struct Probe {
    const task::Kind* kind;  // the claimer's, which outlives all steps
    int priority;
    ShardRange shards;
    std::size_t found;
  };
  static std::string probe_text(const Dialect& dialect, std::string_view columns,
                                const ShardRange& shards);
  Result<> add_probe(Values& values, const Probe& probe);
  // Writes the claim to rows that were locked before. Ids ascend; `probes` are empty where the rows
  // were asked for by id.
  virtual Result<> mark_claimed(const task::Claim& claim, std::span<const task::TaskId> ids,
                                std::span<const Probe> probes);

 private:
  // Up to `found` of them.
  Result<std::vector<task::Task>> lock_due(const Probe& probe);
  // The rows, as claimed and written.
  Result<TakenBatch> write_claims(const ClaimRequest& request, TimePoint now,
                                  std::vector<task::Task> rows, std::span<const Probe> probes);
  Result<std::vector<task::Task>> locked(std::span<const task::TaskId> ids, bool with_payload);
  Result<std::optional<Creation>> creation_where(std::string_view after, const CreateKey& key);
  // All cases for which the rest of a SELECT holds.
  Result<std::vector<Case>> cases_where(std::string_view rest, const Values& values);
  Result<std::vector<task::TaskId>> ids_of(std::string_view statement, const Values& values);
  // Row by row of a list of ids: `statement` ends before the list.
  Result<> delete_by_id(std::string_view statement, std::span<const task::TaskId> ids);
  Result<std::vector<task::Incarnation>> owning_nodes();
  Result<std::vector<Purgeable>> lock_old(std::string_view rows_where, Values values,
                                          const PurgeRequest& request, std::size_t limit);
  Result<> forget_keys(std::span<const task::TaskId> ids, bool live);
  Result<> remove_finished(std::span<const Finished> tasks);
  Result<std::vector<bool>> write_held(std::string_view statement, const Values& first,
                                       std::span<const Held> held);

  Seat seat_;
  Care care_;
  std::optional<TimePoint> claim_time_;
};

Result<Pauses> read_pauses(sql::Connection& connection);

// The ids in one of the two tables that match, newest first; see Transaction::find_live.
struct Search {
  const Filter& filter;
  std::optional<TimePoint> as_of;
  std::optional<task::TaskId> after;
  std::size_t limit;
};
Result<Transaction::Found> find_in_task(sql::Connection& connection, const Search& search);
Result<Transaction::Found> find_in_archive(sql::Connection& connection, const Search& search);
// In both, where the states asked for call for it.
Result<Transaction::Found> find_everywhere(sql::Connection& connection, const Search& search);

}  // namespace recourse::store::relational
