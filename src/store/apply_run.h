// One try at writing outcomes, in one transaction; shared by the verb and by tasks that are born
// with their first attempt behind them.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/books.h"
#include "store/retention.h"
#include "store/transaction.h"
#include "store/work.h"

namespace recourse::store {

class ApplyRun {
 public:
  // Refers to the outcomes.
  ApplyRun(const std::vector<const Outcome*>& batch, const Retention& retention);

  Result<> operator()(Transaction& transaction);

  // In the order of the batch.
  [[nodiscard]] std::vector<Applied> answers() const;

 private:
  struct Item {
    const Outcome* outcome;
    std::size_t place;  // in the batch
    std::optional<Applied> answer;

    [[nodiscard]] const task::Transition& change() const { return outcome->transition; }
    [[nodiscard]] const task::TaskId& id() const { return outcome->transition.task; }
  };

  // The common case: nobody interfered and nobody asked for anything.
  Result<> write_plainly(Transaction& transaction);
  void note_written(const std::vector<Item*>& items, const std::vector<bool>& written);
  void applied(Item& item, const task::Transition& written, std::string_view why);
  Item& item_of(const task::TaskId& id);
  // Ascending.
  [[nodiscard]] std::vector<task::TaskId> open_ids() const;
  Result<> judge_rest(Transaction& transaction);
  void judge(task::Task row, Item& item, std::optional<TimePoint> now);
  Result<> judge_archived(Transaction& transaction);
  void refuse(Item& item);

  const Retention& retention_;
  std::deque<Outcome> cleaned_;
  std::vector<Item> items_;  // ascending by id
  ChangedRows requested_;
  Books books_;
};

}  // namespace recourse::store
