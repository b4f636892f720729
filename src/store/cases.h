// What waits for a person: a dead letter, or a failure of the business, from the moment it
// escalated until somebody has dealt with it.
//
// A case is opened and closed by the very transaction that moves its task, with its first reminder
// due at once. So it is the outbox of who tells people: nothing that escalated is forgotten,
// whoever crashes when.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "task/ids.h"
#include "task/ownership.h"
#include "task/record.h"

namespace recourse::store {

inline constexpr std::size_t kAssigneeBytesMax = 200;

struct Case {
  task::TaskId task;
  // Of the write that opened it: another escalation of the same task is another case.
  task::Fence fence;
  TimePoint opened_at;
  // How often people were told, the first time included.
  int reminders = 0;
  // When they are told next; empty: not any more.
  std::optional<TimePoint> remind_at = std::nullopt;
  // Who looks after it; empty: nobody yet.
  std::string assignee = {};

  friend bool operator==(const Case&, const Case&) = default;
};

struct DueCase {
  Case held;        // as it was put off
  task::Task task;  // without its payload
};

struct DueCases {
  TimePoint now;  // the store's
  std::vector<DueCase> items;
};

// By whoever holds a case; only while nobody has touched it since.
struct PutOff {
  Case held;
  // From now on, by the store's clock.
  Duration wait;
  // People were told: one more reminder is counted. Else it is held for longer.
  bool told = true;
};

struct Assignment {
  // Empty: it is given back, and people are reminded again.
  std::string assignee;
  // From then on they are reminded; empty: not any more.
  std::optional<TimePoint> due;
  // For the audit.
  std::string note;
};

struct CaseItem {
  task::TaskId task;
  // As it stands now; kNotFound where the task has none.
  Result<Case> now;
};

struct CasePage {
  std::vector<Case> cases;  // by task, oldest first
  // Theirs, without payloads, in the same order. One whose case is closed just now is missing.
  std::vector<task::Task> tasks;
  std::optional<task::TaskId> next;
};

class Cases {
 public:
  virtual ~Cases() = default;

  // Those whose reminder is due, the longest due first. Each is put off by `hold_for`, so that
  // nobody else tells it meanwhile, and comes back where the one who has it dies.
  virtual Result<DueCases> take_due(std::size_t limit, Duration hold_for, Duration within) = 0;
  // Until when. Empty: it was changed, closed, or taken by somebody else after the hold was over.
  virtual Result<std::vector<std::optional<TimePoint>>> put_off(std::span<const PutOff> batch,
                                                                Duration within) = 0;
  // Somebody takes the cases, hands them over or gives them back.
  virtual Result<std::vector<CaseItem>> assign(std::span<const task::TaskId> tasks,
                                               const Assignment& assignment, std::string_view by,
                                               Duration within) = 0;
  // A person's words, for the audit of the task; nothing else changes. kNotFound where it has none.
  virtual Result<Case> note(task::TaskId task, std::string_view text, std::string_view by,
                            Duration within) = 0;
  virtual Result<std::optional<Case>> find(task::TaskId task, Duration within) = 0;
  // Of one assignee, or all.
  virtual Result<CasePage> list(const std::optional<std::string>& assignee,
                                std::optional<task::TaskId> after, std::size_t limit,
                                Duration within) = 0;
};

}  // namespace recourse::store
