#include "notify/case_notice.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "policy/strategy.h"

namespace recourse::notify {
namespace {

// As the message door names it. Other search keys are their callers' own, and may hold a card's
// number.
constexpr std::string_view kMessageIdKey = "message_id";

Event event_of(const task::Task& task) {
  switch (policy::escalation_of(task)) {
    case policy::Escalation::kDeadLetter: return Event::kDeadLetter;
    case policy::Escalation::kMaxRetryReached: return Event::kMaxRetryReached;
    case policy::Escalation::kNonRetryableFailed: return Event::kNonRetryableFailed;
  }
  std::abort();
}

}  // namespace

Notice notice_of(const store::DueCase& due, const Sayer& sayer) {
  const task::Task& task = due.task;
  Notice notice{.id = fmt::format("{}-{}-{}", task::to_string(task.id), due.held.fence.value,
                                  due.held.reminders),
                .event = event_of(task),
                .node = sayer.node,
                .kind = task.spec.kind,
                .task = task.id,
                .tenant = task.spec.tenant,
                .retries = task.retries,
                .max_retries = task.spec.max_retries,
                .at = due.held.opened_at,
                .reminder = due.held.reminders};
  if (task.last_error) {
    notice.reason = task.last_error->code;
    notice.last_error = task.last_error->message;
  }
  notice.attributes["fence"] = fmt::format("{}", due.held.fence.value);
  if (!task.spec.shard_key.value.empty()) {
    notice.attributes["shard_key"] = task.spec.shard_key.value;
  }
  if (!due.held.assignee.empty()) notice.attributes["assignee"] = due.held.assignee;
  // What people find the task by.
  for (const auto& [name, value] : task.spec.search_keys) {
    notice.attributes.emplace("key " + name, value);
    if (name == kMessageIdKey) notice.ids.insert("key " + name);
  }
  if (!sayer.link.empty()) notice.link = sayer.link + task::to_string(task.id);
  return notice;
}

}  // namespace recourse::notify
