// The steps of a transaction on plain containers, under the lock of the backend.
#pragma once

#include "base/clock.h"
#include "store/memory/data.h"
#include "store/transaction.h"

namespace recourse::store::memory {

class MemoryTransaction final : public Transaction {
 public:
  MemoryTransaction(Data& data, const Clock& clock) : data_(data), now_(clock.now()) {}

  Result<TimePoint> now() override { return now_; }

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
  Result<Pauses> pauses() override { return data_.pauses; }
  Result<std::int64_t> set_pause(const task::Kind& kind, bool paused, std::string_view by) override;

  Result<> add_counts(std::span<const CountChange> changes) override;
  Result<> fold_counts() override { return {}; }
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

  // An error after a write could not be rolled back; the verbs check before they write.
  [[nodiscard]] bool has_written() const { return has_written_; }

 private:
  Data& written() {
    has_written_ = true;
    return data_;
  }
  // The row, where it carries this ticket.
  const task::Task* held(task::TaskId id, const task::Ticket& ticket) const;
  Taken claim(const task::Task& row, const ClaimRequest& request);

  Data& data_;
  // One for all steps: what a claim has just leased must not be over for its next step.
  const TimePoint now_;
  bool has_written_ = false;
};

}  // namespace recourse::store::memory
