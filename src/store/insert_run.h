// One try at inserting a batch, in one transaction; shared by the verb and by submits inside a
// caller's own transaction.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/transaction.h"
#include "store/work.h"

namespace recourse::store {

class InsertRun {
 public:
  InsertRun(std::vector<const Submission*> items, Novelty novelty, KeyPatience patience);

  Result<> operator()(Transaction& transaction);

  [[nodiscard]] TimePoint now() const { return now_; }
  // One for each item, by id.
  [[nodiscard]] const std::map<task::TaskId, Inserted>& answers() const { return answers_; }

 private:
  void answer(task::TaskId id, Insertion result, task::TaskId task, bool still_mine = false);
  // Those without an answer yet.
  [[nodiscard]] std::vector<const Submission*> open_items() const;
  [[nodiscard]] std::vector<task::TaskId> open_ids() const;

  Result<> leave_out_archived(Transaction& transaction);
  Result<> leave_out_live(Transaction& transaction);
  Result<> take_keys(Transaction& transaction);
  Result<> insert_rest(Transaction& transaction);
  Result<> undo_resurrected(Transaction& transaction);
  Result<> count(Transaction& transaction);

  std::vector<const Submission*> items_;
  Novelty novelty_;
  KeyPatience patience_;
  bool has_run_ = false;
  TimePoint now_;
  std::map<task::TaskId, Inserted> answers_;
};

// In the order of the batch.
InsertAnswer in_order(std::span<const Submission> batch, TimePoint now,
                      const std::map<task::TaskId, Inserted>& answers);

// A submit inside a caller's transaction: all or nothing with it, never born claimed.
Result<InsertAnswer> insert_within(Transaction& transaction, std::span<const Submission> batch);

}  // namespace recourse::store
