#include "guard/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/stable_hash.h"
#include "base/text.h"
#include "engine/submits.h"
#include "guard/retry_rule.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;

// Of one step.
constexpr Duration kStepPatience = 10s;
constexpr std::size_t kDueAtOnce = 1'000;
constexpr std::size_t kDueMax = 10'000;
constexpr std::size_t kSubmittedAtOnce = 500;
// Rows whose tasks are looked at, one by one.
constexpr std::size_t kTakenAtOnce = 100;
// What is written to row by row: who stops us waits for so many at most.
constexpr std::size_t kWrittenAtOnce = 200;
constexpr int kBatches = 50;
constexpr Duration kCountEvery = 1min;
constexpr std::size_t kKeyBytes = 200;
// So many tasks of one row are looked at for its last error; some of them found nothing to do.
constexpr std::size_t kNewestTasks = 5;
// A search key's name.
constexpr const char* kRowKey = "row";

// Plain and short enough, or a stand-in that is: two rows that share one wait for each other, and
// nothing worse.
std::string key_of(const RowId& id) {
  std::string text = to_string(id);
  if (text.size() <= kKeyBytes && is_plain_text(text)) return text;
  std::string key = "#";
  for (const std::uint8_t byte : stable_hash(text)) key += fmt::format("{:02x}", byte);
  return key;
}

// How long a row that was submitted is left to the engine before anybody asks again.
Duration left_alone_for(const GuardSettings& settings) {
  return std::clamp<Duration>(settings.scan_every * 5, 10s, 10min);
}

}  // namespace

Result<> Scan::run(ScanReport& report) {
  std::optional<Error> first;
  for (const auto step : {&Scan::heal, &Scan::submit_due, &Scan::promote}) {
    if (parts_.is_stopping()) break;
    Result<> done = (this->*step)(report);
    if (done) continue;
    if (!first) first = done.error();
    if (done.error().code == ErrorCode::kUnavailable) break;
  }
  return first ? fail(*first) : Result<>();
}

Result<> Scan::heal(ScanReport& report) {
  for (int i = 0; i < kBatches && !parts_.is_stopping(); ++i) {
    const auto healed = parts_.table.heal(kWrittenAtOnce, kStepPatience);
    if (!healed) return fail(healed.error());
    report.got_start_time += healed->got_start_time;
    report.healed += healed->became_2001;
    parts_.tally.healed_by_scan += static_cast<std::uint64_t>(healed->became_2001);
    if (!healed->more || healed->got_start_time + healed->became_2001 == 0) break;
  }
  return {};
}

Result<> Scan::submit_due(ScanReport& report) {
  const std::size_t recent = [&] {
    const MutexLock lock(mutex_);
    return recent_.size();
  }();
  // Those that wait for the engine come first, because they are due for longest.
  auto due = parts_.table.due(std::min(kDueAtOnce + recent, kDueMax), kStepPatience);
  if (!due) return fail(due.error());
  report.due = static_cast<std::int64_t>(due->size());
  const std::vector<RowId> fresh = without_recent(*std::move(due));
  for (std::size_t from = 0; from < fresh.size(); from += kSubmittedAtOnce) {
    if (parts_.is_stopping()) break;
    const auto begin = fresh.begin() + static_cast<std::ptrdiff_t>(from);
    const std::size_t count = std::min(kSubmittedAtOnce, fresh.size() - from);
    Result<> submitted = submit({begin, begin + static_cast<std::ptrdiff_t>(count)}, report);
    if (!submitted) return submitted;
  }
  return {};
}

std::vector<RowId> Scan::without_recent(std::vector<RowId> due) {
  const BootTime now = parts_.clock.since_boot();
  const MutexLock lock(mutex_);
  std::erase_if(recent_, [&](const auto& one) { return one.second <= now; });
  std::vector<RowId> fresh;
  for (RowId& id : due) {
    if (!recent_.contains(to_string(id))) fresh.push_back(std::move(id));
  }
  return fresh;
}

Result<> Scan::submit(const std::vector<RowId>& rows, ScanReport& report) {
  std::vector<store::Submission> batch;
  batch.reserve(rows.size());
  {
    // Before they are sent: one may have run by the time that the others are answered.
    const BootTime until = parts_.clock.since_boot() + left_alone_for(parts_.table.settings());
    const MutexLock lock(mutex_);
    for (const RowId& id : rows) recent_[to_string(id)] = until;
  }
  for (const RowId& id : rows) batch.push_back(submission_of(id, Duration::zero()));
  const auto sent = engine::Submits::send(parts_.node, std::move(batch), store::Novelty::kFresh);
  (void)sent.wait(kStepPatience);
  const auto results = sent.results();
  std::optional<Error> first;
  std::vector<TakenRow> taken;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_new = results[i] && results[i]->result == store::Insertion::kInserted;
    if (is_new) ++report.submitted;
    if (!results[i] && !first) first = results[i].error();
    const bool is_seen_to = is_new || (results[i] && taken.size() < kTakenAtOnce);
    if (!is_new && is_seen_to) taken.push_back({.row = rows[i], .task = results[i]->task});
    // The next scan's.
    if (!is_seen_to) ran(rows[i]);
  }
  if (first) return fail(*first);
  const auto deadly = wake_taken(taken_parts(), taken, kStepPatience);
  return deadly ? give_to_person(*deadly, report) : fail(deadly.error());
}

TakenParts Scan::taken_parts() {
  return {parts_.opened, parts_.node, parts_.log, parts_.table.settings().name};
}

// The row first: a task that is left over does no harm, because it is older than the row's next
// error.
Result<> Scan::give_to_person(const std::vector<Deadly>& deadly, ScanReport& report) {
  std::vector<task::TaskId> ended;
  std::vector<task::TaskId> older;
  for (const Deadly& one : deadly) {
    const auto given = parts_.table.give_to_person(one.taken.row, one.died_at, kStepPatience);
    // Somebody has it locked: the next scan asks again.
    if (!given && given.error().code == ErrorCode::kExhausted) {
      ran(one.taken.row);
      continue;
    }
    if (!given) return fail(given.error());
    (*given ? ended : older).push_back(one.taken.task);
    ran(one.taken.row);
    if (*given) needs_person(one.taken.row, one.error, report);
  }
  if (Result<> done = resolve(taken_parts(), ended, kStepPatience); !done) return done;
  return reopen(taken_parts(), older, kStepPatience);
}

void Scan::needs_person(const RowId& id, const std::string& error, ScanReport& report) {
  ++report.escalated;
  ++parts_.tally.escalated;
  parts_.log.error("guard_row_needs_person", {{"guard", parts_.table.settings().name},
                                              {"table", parts_.table.settings().table},
                                              {"row", to_string(id)},
                                              {"error", error}});
  parts_.escalated(id, error);
}

Result<> Scan::promote(ScanReport& report) {
  for (int i = 0; i < kBatches && !parts_.is_stopping(); ++i) {
    const auto promoted = parts_.table.promote(kWrittenAtOnce, kStepPatience);
    if (!promoted) return fail(promoted.error());
    for (const RowId& id : *promoted) needs_person(id, "its time-out window is over", report);
    if (promoted->size() < kWrittenAtOnce) break;
  }
  return {};
}

void Scan::count_rows() {
  const BootTime now = parts_.clock.since_boot();
  if (counted_at_ != BootTime::min() && now - counted_at_ < kCountEvery) return;
  std::map<std::int32_t, std::int64_t> rows;
  for (const ErrStatus status : {ErrStatus::kWaiting, ErrStatus::kNeedsPerson}) {
    if (parts_.is_stopping()) return;
    const auto number = static_cast<std::int32_t>(status);
    const auto count = parts_.table.count({.err_statuses = {number}}, kStepPatience);
    // The scan itself has told of a database that does not answer.
    if (!count) return;
    rows[number] = *count;
  }
  counted_at_ = now;
  parts_.tally.set_rows(std::move(rows));
}

store::Submission Scan::submission_of(const RowId& id, Duration delay) {
  const GuardSettings& settings = parts_.table.settings();
  store::Submission submission{
      .id = task::TaskId(parts_.ids.next()), .spec = {}, .delay = delay, .claim = std::nullopt};
  task::TaskSpec& spec = submission.spec;
  spec.kind = parts_.kind;
  spec.unique_key = task::UniqueKey(key_of(id));
  spec.payload = to_string(id);
  spec.max_retries = std::min(settings.max_retries, task::kRetriesMax);
  spec.timeout = settings.attempt_timeout;
  // By which people find it.
  spec.search_keys = {{kRowKey, key_of(id)}};
  return submission;
}

Result<std::optional<task::Task>> Scan::newest_task_of(const RowId& id, Duration within) {
  store::Filter filter;
  filter.kinds = {parts_.kind};
  filter.search_key = {kRowKey, key_of(id)};
  auto page = parts_.opened.reader().list(filter, std::nullopt, kNewestTasks, within);
  if (!page) return fail(page.error());
  if (page->tasks.empty()) return std::nullopt;
  // A scan may have handed the row over once more while its last run was being written.
  const auto has_tried = [](const task::Task& task) {
    return !task.last_error || !has_tried_nothing(task.last_error->code);
  };
  const auto found = std::ranges::find_if(page->tasks, has_tried);
  return found == page->tasks.end() ? std::move(page->tasks.front()) : std::move(*found);
}

void Scan::ran(const RowId& id) {
  const MutexLock lock(mutex_);
  recent_.erase(to_string(id));
}

}  // namespace recourse::guard
