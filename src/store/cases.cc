#include "store/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/rfc3339.h"
#include "base/text.h"
#include "store/batch.h"
#include "store/books.h"
#include "store/transactional_cases.h"
#include "task/control.h"

namespace recourse::store {
namespace {

using task::TaskId;

constexpr Duration kHoldMax = std::chrono::hours(24);

Result<> check_hold(Duration hold_for) {
  if (hold_for > Duration::zero() && hold_for <= kHoldMax) return {};
  return fail(ErrorCode::kInvalid, "a due case is held longer than nothing and up to a day");
}

Result<> check_tasks(std::span<const TaskId> tasks) {
  if (!tasks.empty() && tasks.size() <= kBatchRowsMax) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("1 to {} cases at once, these are {}", kBatchRowsMax, tasks.size()));
}

Error no_case(const TaskId& id) {
  return {ErrorCode::kNotFound, task::to_string(id) + " does not wait for a person"};
}

Result<> check_note(std::string_view text) {
  if (!clean_text(text, task::kReasonBytesMax).empty() && text.size() <= task::kReasonBytesMax) {
    return {};
  }
  return fail(ErrorCode::kInvalid, fmt::format("a note has 1 to {} bytes, this has {}",
                                               task::kReasonBytesMax, text.size()));
}

Result<> check_assignment(const Assignment& assignment) {
  const std::string& name = assignment.assignee;
  if (name.size() > kAssigneeBytesMax || (!name.empty() && !is_plain_text(name))) {
    return fail(ErrorCode::kInvalid,
                fmt::format("an assignee has up to {} bytes of plain text", kAssigneeBytesMax));
  }
  if (name.empty() && assignment.due) {
    return fail(ErrorCode::kInvalid, "a case that is given back is due to nobody: leave due out");
  }
  return {};
}

std::vector<TaskId> ascending(std::span<const TaskId> tasks) {
  std::vector<TaskId> ids(tasks.begin(), tasks.end());
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  return ids;
}

std::map<TaskId, Case> by_task(std::vector<Case> cases) {
  std::map<TaskId, Case> found;
  for (Case& one : cases) found.emplace(one.task, std::move(one));
  return found;
}

std::string action_of(const Case& before, const Assignment& assignment) {
  if (assignment.assignee.empty()) return "give_back";
  return before.assignee.empty() ? "take" : "hand_over";
}

std::string detail_of(const Assignment& assignment) {
  std::string detail = assignment.assignee;
  if (assignment.due) detail += fmt::format(", due {}", format_rfc3339(*assignment.due));
  const std::string note = clean_text(assignment.note, task::kReasonBytesMax);
  if (!note.empty()) detail += (detail.empty() ? "" : ": ") + note;
  return detail;
}

Case assigned(Case before, const Assignment& assignment, TimePoint now) {
  before.assignee = assignment.assignee;
  before.remind_at = assignment.assignee.empty() ? now : assignment.due;
  return before;
}

// Those whose task waits for a person, into `held`; the others are closed. They were left behind:
// the case is locked, and whoever moves a task today closes its case before that is seen. A node of
// an older version, beside this one while a cluster is upgraded, knows nothing of cases.
Result<> hold(Transaction& transaction, std::vector<Case> cases, std::vector<task::Task> tasks,
              std::vector<DueCase>& held) {
  std::map<TaskId, task::Task> rows;
  for (task::Task& task : tasks) rows.emplace(task.id, std::move(task));
  std::vector<Case> waiting;
  std::vector<TaskId> left_behind;
  for (Case& one : cases) {
    const auto row = rows.find(one.task);
    if (row == rows.end() || !task::needs_person(row->second.state)) {
      left_behind.push_back(one.task);
      continue;
    }
    waiting.push_back(one);
    held.push_back({.held = std::move(one), .task = std::move(row->second)});
  }
  if (!left_behind.empty()) {
    if (Result<> closed = transaction.close_cases(left_behind); !closed) return closed;
  }
  return waiting.empty() ? Result<>{} : transaction.write_cases(waiting);
}

}  // namespace

Result<DueCases> TransactionalCases::take_due(std::size_t limit, Duration hold_for,
                                              Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  if (Result<> valid = check_hold(hold_for); !valid) return fail(valid.error());
  DueCases due;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    due = {.now = *now, .items = {}};
    auto cases = transaction.lock_due_cases(*now, limit);
    if (!cases || cases->empty()) return cases ? Result<>{} : fail(cases.error());
    std::vector<TaskId> ids;
    for (Case& one : *cases) {
      one.remind_at = *now + hold_for;
      ids.push_back(one.task);
    }
    std::ranges::sort(ids);
    auto tasks = transaction.peek(ids);
    if (!tasks) return fail(tasks.error());
    return hold(transaction, *std::move(cases), *std::move(tasks), due.items);
  };
  // Where the reply is lost, they come back when the hold is over.
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, work); !ran) {
    return fail(ran.error());
  }
  return due;
}

Result<std::vector<std::optional<TimePoint>>> TransactionalCases::put_off(
    std::span<const PutOff> batch, Duration within) {
  std::vector<TaskId> ids;
  for (const PutOff& one : batch) ids.push_back(one.held.task);
  if (Result<> valid = check_tasks(ids); !valid) return fail(valid.error());
  std::vector<std::optional<TimePoint>> ends;
  const auto work = [&](Transaction& transaction) -> Result<> {
    ends.clear();
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    auto cases = transaction.lock_cases(ascending(ids));
    if (!cases) return fail(cases.error());
    auto rows = by_task(*std::move(cases));
    std::vector<Case> changed;
    for (const PutOff& one : batch) {
      const auto row = rows.find(one.held.task);
      const bool is_held = row != rows.end() && row->second == one.held;
      ends.push_back(is_held ? std::optional(saturating_add(*now, one.wait)) : std::nullopt);
      if (!is_held) continue;
      row->second.reminders += one.told ? 1 : 0;
      row->second.remind_at = ends.back();
      changed.push_back(row->second);
    }
    return changed.empty() ? Result<>{} : transaction.write_cases(changed);
  };
  // Run again it would not find the hold any more. In doubt, people are told once too often.
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, work); !ran) {
    return fail(ran.error());
  }
  return ends;
}

Result<std::vector<CaseItem>> TransactionalCases::assign(std::span<const TaskId> tasks,
                                                         const Assignment& assignment,
                                                         std::string_view by, Duration within) {
  if (Result<> valid = check_tasks(tasks); !valid) return fail(valid.error());
  if (Result<> valid = check_assignment(assignment); !valid) return fail(valid.error());
  if (Result<> valid = check_actor(by); !valid) return fail(valid.error());
  const std::vector<TaskId> ids = ascending(tasks);
  std::vector<CaseItem> items;
  const auto work = [&](Transaction& transaction) -> Result<> {
    items.clear();
    Books books;
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    auto cases = transaction.lock_cases(ids);
    if (!cases) return fail(cases.error());
    const auto rows = by_task(*std::move(cases));
    std::vector<Case> changed;
    for (const TaskId& id : ids) {
      const auto row = rows.find(id);
      if (row == rows.end()) {
        items.push_back({id, fail(no_case(id))});
        continue;
      }
      changed.push_back(assigned(row->second, assignment, *now));
      items.push_back({id, changed.back()});
      books.noted({.at = *now,
                   .task = id,
                   .actor = std::string(by),
                   .action = action_of(row->second, assignment),
                   .detail = detail_of(assignment),
                   .fence = row->second.fence});
    }
    if (changed.empty()) return {};
    if (Result<> written = transaction.write_cases(changed); !written) return written;
    return books.write(transaction);
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, work); !ran) {
    return fail(ran.error());
  }
  return items;
}

Result<Case> TransactionalCases::note(TaskId task, std::string_view text, std::string_view by,
                                      Duration within) {
  if (Result<> valid = check_note(text); !valid) return fail(valid.error());
  if (Result<> valid = check_actor(by); !valid) return fail(valid.error());
  std::optional<Case> found;
  const auto work = [&](Transaction& transaction) -> Result<> {
    found.reset();
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    const auto cases = transaction.lock_cases({&task, 1});
    if (!cases || cases->empty()) return cases ? Result<>{} : fail(cases.error());
    found = cases->front();
    Books books;
    books.noted({.at = *now,
                 .task = task,
                 .actor = std::string(by),
                 .action = "note",
                 .detail = clean_text(text, task::kReasonBytesMax),
                 .fence = found->fence});
    return books.write(transaction);
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, work); !ran) {
    return fail(ran.error());
  }
  if (!found) return fail(no_case(task));
  return *std::move(found);
}

Result<std::optional<Case>> TransactionalCases::find(TaskId task, Duration within) {
  std::optional<Case> found;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const auto cases = transaction.lock_cases({&task, 1});
    if (!cases) return fail(cases.error());
    found = cases->empty() ? std::nullopt : std::optional(cases->front());
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  return found;
}

Result<CasePage> TransactionalCases::list(const std::optional<std::string>& assignee,
                                          std::optional<TaskId> after, std::size_t limit,
                                          Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  CasePage page;
  const auto work = [&](Transaction& transaction) -> Result<> {
    auto cases = transaction.list_cases(assignee, after, limit);
    if (!cases) return fail(cases.error());
    page = {.cases = *std::move(cases), .tasks = {}, .next = std::nullopt};
    if (page.cases.empty()) return {};
    if (page.cases.size() == limit) page.next = page.cases.back().task;
    std::vector<TaskId> ids;
    for (const Case& one : page.cases) ids.push_back(one.task);
    auto tasks = transaction.peek(ids);
    if (!tasks) return fail(tasks.error());
    page.tasks = *std::move(tasks);
    std::ranges::sort(page.tasks, {}, &task::Task::id);
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  return page;
}

}  // namespace recourse::store
