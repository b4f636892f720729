#include "api/bulk_jobs.h"

#include <algorithm>
#include <utility>

#include "api/desk.h"
#include "base/public_id.h"
#include "base/text.h"

namespace recourse::api {
namespace {

constexpr std::string_view kJobSpace = "bulk";
constexpr std::string_view kJobIdType = "blk";
constexpr Duration kKeptFor = std::chrono::hours(24 * 7);
constexpr auto kJobLookEvery = std::chrono::seconds(5);
// A runner that has not written for this long is gone.
constexpr Duration kAbandonedAfter = std::chrono::seconds(30);

// A new job does not know yet what the store's time was when it was written; its record does. A
// node's own idea of that time lags, and would leave out what was submitted a moment ago.
Result<BulkJob> job_of(const store::Record& record) {
  Result<BulkJob> job = api::job_of(record.value);
  if (job && job->as_of == TimePoint{} && record.expires_at) {
    job->as_of = *record.expires_at - kKeptFor;
  }
  return job;
}

}  // namespace

BulkJobs::BulkJobs(store::OpenedStore& opened, UlidSource& ids, const Clock& clock, Log& log,
                   std::function<void()> changed_tasks)
    : opened_(opened),
      ids_(ids),
      clock_(clock),
      log_(log),
      changed_tasks_(std::move(changed_tasks)),
      thread_([this] { run(); }) {}

BulkJobs::~BulkJobs() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<BulkJob> BulkJobs::start(BulkJob job) {
  job.id = to_string(PublicId{std::string(kJobIdType), ids_.next()});
  // Nobody's yet: whoever looks next runs it.
  job.beat_at = TimePoint{};
  const auto added = opened_.records().add(
      {.space = std::string(kJobSpace), .name = job.id, .value = to_value(job)}, kKeptFor,
      kPatience);
  if (!added) return fail(added.error());
  {
    MutexLock lock(mutex_);
    nudged_ = true;
  }
  changed_.notify_all();
  return job_of(added->record);
}

Result<std::optional<BulkJob>> BulkJobs::find(std::string_view id) {
  const auto record = opened_.records().find(kJobSpace, id, kPatience);
  if (!record) return fail(record.error());
  if (!*record) return std::optional<BulkJob>();
  auto job = job_of(**record);
  if (!job) return fail(job.error());
  return std::optional(*std::move(job));
}

Result<std::vector<store::Record>> BulkJobs::records() {
  std::vector<store::Record> all;
  std::optional<std::string> after;
  do {
    auto page = opened_.records().list(kJobSpace, after, store::kPageRowsMax, kPatience);
    if (!page) return fail(page.error());
    std::ranges::move(page->records, std::back_inserter(all));
    after = page->next;
  } while (after);
  return all;
}

Result<std::vector<BulkJob>> BulkJobs::list() {
  const auto all = records();
  if (!all) return fail(all.error());
  std::vector<BulkJob> jobs;
  for (const store::Record& record : *all) {
    auto job = job_of(record);
    if (!job) return fail(job.error());
    jobs.push_back(*std::move(job));
  }
  std::ranges::reverse(jobs);  // the newest first: ids ascend
  return jobs;
}

Result<BulkJob> BulkJobs::cancel(std::string_view id) {
  while (true) {
    auto record = opened_.records().find(kJobSpace, id, kPatience);
    if (!record) return fail(record.error());
    if (!*record) return fail(ErrorCode::kNotFound, "there is no bulk job " + shown(id));
    auto job = job_of(**record);
    if (!job) return fail(job.error());
    if (job->state != "running") {
      return fail(ErrorCode::kConflict, "the job is " + job->state + " already");
    }
    job->state = "cancelled";
    (*record)->value = to_value(*job);
    const auto replaced = opened_.records().replace(**record, kKeptFor, kPatience);
    if (replaced) return *job;
    // Its runner has written a page in between.
    if (replaced.error().code != ErrorCode::kConflict) return fail(replaced.error());
  }
}

bool BulkJobs::is_closing() {
  MutexLock lock(mutex_);
  return closing_;
}

void BulkJobs::run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!nudged_ && !closing_) changed_.wait_for(mutex_, kJobLookEvery);
      if (closing_) return;
      nudged_ = false;
    }
    look();
  }
}

void BulkJobs::look() {
  auto all = records();
  if (!all) return;
  for (store::Record& record : *all) {
    auto job = job_of(record);
    if (!job || job->state != "running" || clock_.now() - job->beat_at < kAbandonedAfter) continue;
    log_.info("bulk_job_runs", {{"job", job->id}, {"action", std::string(to_string(job->action))}});
    while (!is_closing() && step(record, *job)) {
    }
    if (changed_tasks_) changed_tasks_();
  }
}

bool BulkJobs::write(store::Record& record, BulkJob& job) {
  job.beat_at = clock_.now();
  record.value = to_value(job);
  auto replaced = opened_.records().replace(record, kKeptFor, kPatience);
  // Cancelled, or somebody else goes on with it.
  if (!replaced) return false;
  record = *std::move(replaced);
  return true;
}

bool BulkJobs::step(store::Record& record, BulkJob& job) {
  std::vector<FieldError> errors;
  const BulkPlan plan = plan_of(job, errors);
  const std::size_t seen = job.done + job.requested + job.refused;
  if (!errors.empty() || seen >= job.limit) {
    job.state = errors.empty() ? "done" : "failed";
    return write(record, job) && false;
  }
  // Written first: a page is never begun by two runners at once.
  if (!write(record, job)) return false;
  const store::ByFilter which{.filter = plan.filter,
                              .as_of = job.as_of,
                              .after = job.cursor,
                              .limit = std::min(job.limit - seen, store::kBatchRowsMax)};
  const auto answer = opened_.store().control(which, plan.order, job.by, kPatience);
  if (!answer) {
    log_.warning("bulk_job_waits", {{"job", job.id}, {"error", answer.error().message}});
    return false;  // looked at again when its runner seems gone
  }
  for (const store::ControlItem& item : answer->items) {
    if (!item.effect) {
      ++job.refused;
      if (job.errors.size() < kBulkErrorsKept) job.errors.push_back(item.effect.error().message);
    } else {
      ++(*item.effect == task::Effect::kDone ? job.done : job.requested);
    }
  }
  job.cursor = answer->next;
  if (!answer->next) job.state = "done";
  return write(record, job) && answer->next.has_value();
}

}  // namespace recourse::api
