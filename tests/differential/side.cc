#include "tests/differential/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "store/contract/contract.h"

namespace recourse::tests::differential {
namespace {

using namespace store;
using store::contract::kWithin;
using store::contract::must;
using task::Task;
using task::TaskId;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string pairs(const std::map<std::string, std::string>& entries) {
  std::string text;
  for (const auto& [name, value] : entries) text += name + '=' + value + ',';
  return text;
}

std::string owner_words(const std::optional<task::Owner>& owner) {
  return owner ? task::to_string(*owner) : "-";
}

std::string reason_words(const std::optional<task::Reason>& reason) {
  return reason ? reason->code + ": " + reason->message : "-";
}

}  // namespace

std::string words(const Error& error) {
  return fmt::format("{}: {}", to_string(error.code), error.message);
}

Side::Side(std::string name, std::unique_ptr<OpenedStore> opened)
    : name_(std::move(name)), opened_(std::move(opened)) {
  ClaimRequest nothing;
  nothing.quotas = {{.kind = task::Kind("a kind that nobody submits"), .limit = 1}};
  nothing.limit = 1;
  start_ = must(store().claim(nothing, kWithin)).now;
  now_ = start_;
}

std::string Side::words(TimePoint time) const {
  if (time == kNever) return "never";
  return fmt::format("{}h", std::chrono::round<std::chrono::hours>(time - start_).count());
}

std::string Side::words(const std::optional<TimePoint>& time) const {
  return time ? words(*time) : "-";
}

std::string Side::words(const Task& task) const {
  const task::TaskSpec& spec = task.spec;
  return fmt::format(
      "{} {} {} tenant={} shard={} key={} priority={} payload={} headers={} trace={} search={} "
      "max={} timeout={} deadline={} backoff={} created={} due={}{} retries={} attempts={} "
      "episode={} first={} recorded={} deaths={} fence={} lease={} owner={} lease_end={} "
      "requested={} error={} ended={} by={}",
      to_string(task.id), to_string(task.state), spec.kind.value, spec.tenant.value,
      spec.shard_key.value, spec.unique_key.value, spec.priority, hex(spec.payload),
      pairs(spec.headers), spec.trace_parent, pairs(spec.search_keys), spec.max_retries,
      spec.timeout.count(), words(spec.deadline), spec.backoff, words(task.created_at),
      words(task.due_at), task.due_at == task.created_at ? " at once" : "", task.retries,
      task.attempts, task.episode, words(task.first_started_at), static_cast<int>(task.start),
      task.deaths, task.ticket.fence.value, recourse::to_string(task.ticket.lease.value),
      owner_words(task.owner), words(task.lease_end),
      task.requested ? to_string(*task.requested) : "-", reason_words(task.last_error),
      words(task.ended_at), owner_words(task.ended_by));
}

std::string Side::words(std::vector<Task> tasks) const {
  std::ranges::sort(tasks, {}, &Task::id);
  std::string text = fmt::format("{} tasks", tasks.size());
  for (const Task& task : tasks) text += "\n  " + words(task);
  return text;
}

std::string Side::words(const Case& one) const {
  return fmt::format("case {} fence={} opened={} reminders={} remind={} assignee={}",
                     to_string(one.task), one.fence.value, words(one.opened_at), one.reminders,
                     words(one.remind_at), one.assignee);
}

std::vector<Task> Side::list(const Filter& filter) {
  std::vector<Task> all;
  std::optional<TaskId> after;
  do {
    TaskPage page = must(reader().list(filter, after, 100, kWithin));
    all.insert(all.end(), page.tasks.begin(), page.tasks.end());
    after = page.next;
  } while (after);
  return all;
}

std::optional<std::vector<TaskId>> Side::due_in_order(const task::Kind& kind) {
  Filter filter;
  filter.kinds = {kind};
  std::map<TimePoint, TaskId> due;
  for (const Task& task : list(filter)) {
    if (task::available_at(task) > now_ + std::chrono::minutes(30)) continue;
    if (!due.emplace(task::available_at(task), task.id).second) return std::nullopt;
  }
  std::vector<TaskId> ids;
  for (const auto& [time, id] : due) ids.push_back(id);
  return ids;
}

std::vector<std::string> Side::audit() {
  std::vector<std::string> lines;
  std::optional<std::int64_t> after;
  do {
    const AuditPage page = must(reader().audit(std::nullopt, after, kPageRowsMax, kWithin));
    for (const AuditEntry& entry : page.entries) {
      lines.push_back(fmt::format("audit {} {} by {}: {} fence={} {}",
                                  entry.task ? to_string(*entry.task) : "-", entry.action,
                                  entry.actor, entry.detail, entry.fence.value, words(entry.at)));
    }
    after = page.next;
  } while (after);
  // Within one call the order of lines is nobody's promise.
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> Side::everything() {
  std::vector<std::string> all;
  std::set<task::Owner> owners;
  for (const Task& task : list({})) {
    all.push_back(words(task));
    if (task.owner) owners.insert(*task.owner);
    for (const Attempt& attempt : must(reader().attempts(task.id, kWithin))) {
      all.push_back(fmt::format("attempt {} of {}: {} to {} by {} fence={} {} error={} next={}",
                                attempt.number, to_string(attempt.task), words(attempt.started_at),
                                words(attempt.ended_at), attempt.owner, attempt.fence.value,
                                to_string(attempt.decision), reason_words(attempt.error),
                                words(attempt.next_due)));
    }
    for (const Note& note : must(reader().notes(task.id, kWithin))) {
      all.push_back(fmt::format("note {}.{} of {} attempt={} {} progress={} {}", note.fence.value,
                                note.number, to_string(note.task), note.attempt, words(note.at),
                                note.progress.value_or(-1), note.text));
    }
  }
  std::optional<TaskId> after;
  do {
    const CasePage page = must(cases().list(std::nullopt, after, kPageRowsMax, kWithin));
    for (const Case& one : page.cases) all.push_back(words(one));
    after = page.next;
  } while (after);
  std::ranges::move(audit(), std::back_inserter(all));
  for (const auto& [key, n] : must(reader().counts(kWithin))) {
    all.push_back(fmt::format("count {} {} {}", key.first.value, to_string(key.second), n));
  }
  for (const NodeRow& node : must(reader().nodes(kWithin))) {
    all.push_back(fmt::format("node {} {} kinds={} beat={} dead={} pauses={}",
                              task::to_string(task::Owner(node.info.incarnation)), node.info.name,
                              node.info.kinds.size(), node.beat, node.dead, node.pauses_seen));
  }
  const Pauses pauses = must(reader().pauses(kWithin));
  all.push_back(fmt::format("pauses {}", pauses.version));
  for (const task::Kind& kind : pauses.kinds) all.push_back("paused " + kind.value);
  for (const task::Owner& owner : owners) {
    for (const Held& held : must(reader().held_by(owner, std::nullopt, kPageRowsMax, kWithin))) {
      all.push_back(fmt::format("{} holds {} fence={}", task::to_string(owner),
                                to_string(held.task), held.ticket.fence.value));
    }
  }
  return all;
}

}  // namespace recourse::tests::differential
