// control and purge: what people do to tasks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/planted_bug.h"
#include "base/text.h"
#include "store/batch.h"
#include "store/books.h"
#include "store/filter.h"
#include "store/transactional_store.h"

namespace recourse::store {
namespace {

using task::Task;
using task::TaskId;

std::string action_of(const task::Order& order, task::Effect effect) {
  std::string action = order.move ? std::string(task::to_string(*order.move)) : "edit_payload";
  if (effect == task::Effect::kRequested) action += "_requested";
  return action;
}

std::string detail_of(const task::Order& order) {
  std::string detail = order.move && order.payload ? "with a new payload" : "";
  if (!detail.empty() && !order.reason.empty()) detail += ": ";
  return detail + clean_text(order.reason, task::kReasonBytesMax);
}

class ControlRun {
 public:
  ControlRun(const Selection& which, const task::Order& order, std::string_view by,
             const Retention& retention)
      : which_(which), order_(order), by_(by), retention_(retention) {}

  Result<> operator()(Transaction& transaction) {
    answer_ = {};
    books_ = {};
    rows_ = {};
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    Result<std::vector<TaskId>> ids = members(transaction);
    if (!ids) return fail(ids.error());
    if (ids->empty()) return {};
    std::vector<TaskId> ascending = *ids;
    std::ranges::sort(ascending);
    auto locked = transaction.lock(ascending);
    if (!locked) return fail(locked.error());
    for (Task& row : *locked) found_[row.id] = std::move(row);
    if (const auto* by_filter = std::get_if<ByFilter>(&which_)) leave_out_changed(*by_filter, *ids);
    for (const TaskId& id : *ids) {
      if (Result<> step = control_one(transaction, id, *now); !step) return step;
    }
    if (Result<> step = rows_.write(transaction); !step) return step;
    return books_.write(transaction);
  }

  ControlAnswer result() && { return std::move(answer_); }

 private:
  Result<std::vector<TaskId>> members(Transaction& transaction) {
    found_.clear();
    if (const auto* ids = std::get_if<std::vector<TaskId>>(&which_)) return *ids;
    auto found = transaction.find_live(std::get<ByFilter>(which_));
    if (!found) return fail(found.error());
    answer_.next = found->next;
    return std::move(found->ids);
  }

  // Found first and locked later: what has moved on in between is not meant any more.
  void leave_out_changed(const ByFilter& which, std::vector<TaskId>& ids) const {
    std::erase_if(ids, [&](const TaskId& id) {
      const auto row = found_.find(id);
      return row == found_.end() || !matches(which.filter, row->second) ||
             !is_member_as_of(row->second, which.as_of);
    });
  }

  Result<> control_one(Transaction& transaction, TaskId id, TimePoint now) {
    const auto row = found_.find(id);
    if (row == found_.end()) return explain_absence(transaction, id);
    const task::State before = row->second.state;
    Result<task::Controlled> controlled = task::control(std::move(row->second), order_, now);
    if (!controlled) {
      answer_.items.push_back({.task = id, .effect = fail(controlled.error())});
      return {};
    }
    answer_.items.push_back({.task = id, .effect = controlled->effect});
    books_.noted({.at = now,
                  .task = id,
                  .actor = std::string(by_),
                  .action = action_of(order_, controlled->effect),
                  .detail = detail_of(order_),
                  .fence = controlled->task.ticket.fence});
    if (order_.payload) {
      if (Result<> written = transaction.write_payload(id, *order_.payload); !written) {
        return written;
      }
    }
    rows_.changed(std::move(controlled->task), before, retention_, books_);
    return {};
  }

  Result<> explain_absence(Transaction& transaction, TaskId id) {
    const auto archived = transaction.find_archived({&id, 1});
    if (!archived) return fail(archived.error());
    const Error why =
        archived->empty()
            ? Error{ErrorCode::kNotFound, task::to_string(id) + " does not exist"}
            : task::try_move(archived->front().state, order_.move.value_or(task::Move::kCancel))
                  .error();
    answer_.items.push_back({.task = id, .effect = fail(why)});
    return {};
  }

  const Selection& which_;
  const task::Order& order_;
  std::string_view by_;
  const Retention& retention_;
  std::map<TaskId, Task> found_;
  ControlAnswer answer_;
  ChangedRows rows_;
  Books books_;
};

Result<std::size_t> purge_in(Transaction& transaction, const PurgeRequest& request) {
  const auto rows = transaction.lock_purgeable(request);
  if (!rows) return fail(rows.error());
  if (rows->empty()) return std::size_t{0};
  const Result<TimePoint> now = transaction.now();
  if (!now) return fail(now.error());
  Books books;
  std::vector<TaskId> ids;
  for (const Transaction::Purgeable& row : *rows) {
    ids.push_back(row.task);
    books.vanished(row.kind, row.state);
  }
  std::ranges::sort(ids);
  if (const Result<> gone = transaction.forget(ids); !gone) return fail(gone.error());
  books.noted({.at = *now,
               .task = std::nullopt,
               .actor = request.by,
               .action = "purge",
               .detail = counted(ids.size(), "task"),
               .fence = {}});
  if (planted(PlantedBug::kPurgeWithoutAudit)) return ids.size();
  if (const Result<> written = books.write(transaction); !written) return fail(written.error());
  return ids.size();
}

}  // namespace

Result<ControlAnswer> TransactionalStore::control(const Selection& which, const task::Order& order,
                                                  std::string_view by, Duration within) {
  if (Result<> valid = check(which); !valid) return fail(valid.error());
  if (Result<> valid = task::validate(order); !valid) return fail(valid.error());
  if (Result<> valid = check_actor(by); !valid) return fail(valid.error());
  ControlRun run(which, order, by, retention_);
  // Not harmless to repeat: what was done would be refused the second time.
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, run); !ran) {
    return fail(ran.error());
  }
  return std::move(run).result();
}

Result<std::size_t> TransactionalStore::purge(const PurgeRequest& request, Duration within) {
  if (Result<> valid = check(request); !valid) return fail(valid.error());
  std::size_t purged = 0;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const Result<std::size_t> count = purge_in(transaction, request);
    if (!count) return fail(count.error());
    purged = *count;
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, work); !ran) {
    return fail(ran.error());
  }
  return purged;
}

}  // namespace recourse::store
