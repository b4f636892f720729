// One try at inserting a batch, in one transaction; shared by the verb and by submits inside a
// caller's own transaction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/transaction.h"
#include "store/work.h"

namespace recourse::store {

class InsertRun {
 public:
  // Refers to the submissions.
  InsertRun(const std::vector<const Submission*>& items, Novelty novelty, KeyPatience patience);
  InsertRun(const InsertRun&) = delete;
  InsertRun& operator=(const InsertRun&) = delete;

  Result<> operator()(Transaction& transaction);

  [[nodiscard]] TimePoint now() const { return now_; }
  // One for each item, in their order.
  [[nodiscard]] std::vector<Inserted> answers() const;

 private:
  struct Item {
    const Submission* submission;
    std::optional<Inserted> answer;
  };

  static void answer(Item& item, Insertion result, task::TaskId task, bool still_mine = false);
  Item& item_of(const task::TaskId& id);
  // Of those without an answer yet; ascending.
  [[nodiscard]] std::vector<task::TaskId> open_ids() const;

  Result<> leave_out_archived(Transaction& transaction);
  Result<> leave_out_live(Transaction& transaction);
  Result<> take_keys(Transaction& transaction);
  Result<> insert_rest(Transaction& transaction);
  Result<> undo_resurrected(Transaction& transaction);
  Result<> count(Transaction& transaction);

  std::vector<Item> items_;  // as they were given
  std::vector<Item*> by_id_;
  Novelty novelty_;
  KeyPatience patience_;
  bool has_run_ = false;
  TimePoint now_;
};

// Of a task that is born claimed.
std::optional<task::Ticket> birth_ticket(const Submission& item);

// A submit inside a caller's transaction: all or nothing with it, never born claimed.
Result<InsertAnswer> insert_within(Transaction& transaction, std::span<const Submission> batch);

}  // namespace recourse::store
