// A transaction of the memory store that remembers which rows it touched and how they were before,
// so that the checkers see every row of every call.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "store/memory/transaction.h"

namespace recourse::sim {

class ObservedTransaction final : public store::Transaction {
 public:
  using Touched = std::map<task::TaskId, std::optional<task::Task>>;

  ObservedTransaction(store::memory::Data& data, const Clock& clock)
      : data_(data), inner_(data, clock) {}

  [[nodiscard]] const Touched& touched() const { return touched_; }
  [[nodiscard]] bool has_written() const { return inner_.has_written(); }

  Result<TimePoint> now() override { return inner_.now(); }

  Result<std::vector<task::TaskId>> take_keys(std::span<const store::KeyHolder> wanted,
                                              store::KeyPatience patience) override {
    return inner_.take_keys(wanted, patience);
  }
  Result<> release_keys(std::span<const task::Account> accounts) override {
    return inner_.release_keys(accounts);
  }
  Result<InsertedRows> insert_tasks(std::span<const store::NewTask> tasks) override;
  Result<std::vector<store::ArchivedTicket>> find_archived(
      std::span<const task::TaskId> ids) override {
    return inner_.find_archived(ids);
  }
  Result<> remove_tasks(std::span<const task::TaskId> ids) override;

  Result<store::TakenBatch> take_due(const store::ClaimRequest& request,
                                     const store::Shares& shares) override;
  Result<std::vector<store::Candidate>> due_candidates(const task::Kind& kind,
                                                       const store::ShardRange& shards,
                                                       std::size_t window) override {
    return inner_.due_candidates(kind, shards, window);
  }
  Result<store::TakenBatch> take(const store::ClaimRequest& request,
                                 std::span<const task::TaskId> ids) override;

  Result<std::vector<bool>> write_moves(std::span<const task::Transition* const> moves) override;
  Result<std::vector<bool>> write_finishes(std::span<const store::Finish> finishes) override;
  Result<std::vector<task::Task>> lock(std::span<const task::TaskId> ids) override {
    return inner_.lock(ids);
  }
  Result<> write_rows(std::span<const task::Task> tasks) override;
  Result<> write_payload(task::TaskId id, std::string_view payload) override;
  Result<> archive_rows(std::span<const store::Finished> tasks) override;
  Result<std::vector<bool>> write_starts(std::span<const store::Held> held) override;
  Result<std::vector<bool>> write_lease_ends(std::span<const store::Held> held,
                                             TimePoint end) override;

  Result<Found> find_live(const store::ByFilter& which) override { return inner_.find_live(which); }
  Result<std::vector<task::Task>> lock_owned(const task::Owner& owner, std::size_t limit) override {
    return inner_.lock_owned(owner, limit);
  }
  Result<std::vector<task::Incarnation>> lifeless_owners() override {
    return inner_.lifeless_owners();
  }

  Result<> insert_node(const store::NodeInfo& node) override { return inner_.insert_node(node); }
  Result<bool> beat(task::Incarnation node, std::int64_t pauses_seen) override {
    return inner_.beat(node, pauses_seen);
  }
  Result<Death> mark_dead(task::Incarnation node, std::int64_t beat_seen) override {
    return inner_.mark_dead(node, beat_seen);
  }
  Result<std::vector<store::ControlRequest>> requests_for(const task::Owner& owner) override {
    return inner_.requests_for(owner);
  }
  Result<store::Pauses> pauses() override { return inner_.pauses(); }
  Result<std::int64_t> set_pause(const task::Kind& kind, bool paused,
                                 std::string_view by) override {
    return inner_.set_pause(kind, paused, by);
  }

  Result<> add_counts(std::span<const store::CountChange> changes) override {
    return inner_.add_counts(changes);
  }
  Result<> fold_counts() override { return inner_.fold_counts(); }
  Result<> add_attempts(std::span<const store::Attempt> attempts) override {
    return inner_.add_attempts(attempts);
  }
  Result<> add_audit(std::span<const store::AuditEntry> entries) override {
    return inner_.add_audit(entries);
  }
  Result<> add_notes(std::span<const store::Note> notes) override {
    return inner_.add_notes(notes);
  }

  Result<> open_cases(std::span<const store::Case> cases) override {
    return inner_.open_cases(cases);
  }
  Result<> close_cases(std::span<const task::TaskId> tasks) override {
    return inner_.close_cases(tasks);
  }
  Result<std::vector<store::Case>> lock_due_cases(TimePoint now, std::size_t limit) override {
    return inner_.lock_due_cases(now, limit);
  }
  Result<std::vector<store::Case>> lock_cases(std::span<const task::TaskId> tasks) override {
    return inner_.lock_cases(tasks);
  }
  Result<> write_cases(std::span<const store::Case> cases) override {
    return inner_.write_cases(cases);
  }
  Result<std::vector<store::Case>> list_cases(const std::optional<std::string>& assignee,
                                              std::optional<task::TaskId> after,
                                              std::size_t limit) override {
    return inner_.list_cases(assignee, after, limit);
  }
  Result<std::vector<task::Task>> peek(std::span<const task::TaskId> ids) override {
    return inner_.peek(ids);
  }

  Result<std::optional<store::Record>> lock_record(std::string_view space,
                                                   std::string_view name) override {
    return inner_.lock_record(space, name);
  }
  Result<> insert_record(const store::Record& record) override {
    return inner_.insert_record(record);
  }
  Result<> write_record(const store::Record& record) override {
    return inner_.write_record(record);
  }
  Result<bool> delete_record(std::string_view space, std::string_view name) override {
    return inner_.delete_record(space, name);
  }
  Result<std::vector<store::Record>> list_records(std::string_view space, std::string_view after,
                                                  std::size_t limit) override {
    return inner_.list_records(space, after, limit);
  }
  Result<std::size_t> delete_records_before(TimePoint time, std::size_t limit) override {
    return inner_.delete_records_before(time, limit);
  }

  Result<std::optional<store::Creation>> insert_creation(const store::CreateAsk& ask) override {
    return inner_.insert_creation(ask);
  }
  Result<std::optional<store::Creation>> find_creation(const store::CreateKey& key) override {
    return inner_.find_creation(key);
  }
  Result<std::optional<store::Creation>> lock_creation(const store::CreateKey& key) override {
    return inner_.lock_creation(key);
  }
  Result<> write_creation(const store::Creation& creation) override {
    return inner_.write_creation(creation);
  }
  Result<bool> end_creation(const store::CreateHold& hold, const store::CreateEnd& end) override {
    return inner_.end_creation(hold, end);
  }
  Result<std::size_t> delete_creations_before(TimePoint time, std::size_t limit) override {
    return inner_.delete_creations_before(time, limit);
  }

  Result<std::vector<std::optional<store::Seen>>> find_marks(
      std::span<const store::MessageKey> keys) override {
    return inner_.find_marks(keys);
  }
  Result<std::vector<bool>> insert_marks(std::span<const store::NewMark> marks) override {
    return inner_.insert_marks(marks);
  }
  Result<std::size_t> delete_marks(std::span<const store::MessageKey> keys) override {
    return inner_.delete_marks(keys);
  }
  Result<std::size_t> delete_marks_before(TimePoint time, std::size_t limit) override {
    return inner_.delete_marks_before(time, limit);
  }

  Result<std::vector<Purgeable>> lock_purgeable(const store::PurgeRequest& request) override {
    return inner_.lock_purgeable(request);
  }
  Result<> forget(std::span<const task::TaskId> ids) override;

 private:
  void touch(task::TaskId id);

  store::memory::Data& data_;
  store::memory::MemoryTransaction inner_;
  Touched touched_;
};

}  // namespace recourse::sim
