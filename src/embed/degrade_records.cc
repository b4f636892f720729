// The degrade door: seeing and steering what was recorded.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "embed/degrade_impl.h"
#include "store/limits.h"

namespace recourse {
namespace {

FailureRecord view_of(const degrade::Record& record) {
  return {.id = task::to_string(record.id),
          .kind = record.kind.value,
          .status = std::string(to_string(record.status)),
          .state = std::string(to_string(record.state)),
          .member = record.member,
          .related_id = record.related_id,
          .type = record.type,
          .tenant = record.tenant.value,
          .amount = record.amount,
          .remark = record.remark,
          .expires_at = record.expires_at,
          .failure_reason = record.failure_reason,
          .failed_at = record.failed_at,
          .retries = record.retries,
          .max_retries = record.max_retries,
          .last_retry_at = record.last_retry_at,
          .last_error = record.last_error,
          .next_retry_at = record.next_retry_at,
          .ended_at = record.ended_at};
}

std::vector<FailureRecord> views_of(const std::vector<degrade::Record>& records) {
  std::vector<FailureRecord> views;
  for (const degrade::Record& record : records) views.push_back(view_of(record));
  return views;
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

RetriedMany many_of(const degrade::RetryProgress& progress) {
  return {.retried = progress.retried, .refused = progress.refused, .more = progress.more};
}

}  // namespace

Result<degrade::Query> Degrade::Impl::query_of(const FailureQuery& asked) const {
  degrade::Query query;
  query.kinds = kinds;
  if (!asked.kind.empty()) {
    const task::Kind kind(asked.kind);
    if (std::ranges::count(kinds, kind) == 0) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("query.kind {} is no degrade kind here", shown(asked.kind)));
    }
    query.kinds = {kind};
  }
  if (!asked.status.empty()) {
    query.status = degrade::parse_status(asked.status);
    if (!query.status) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("query.status must be PENDING, COMPLETED or FAILED, not {}",
                              shown(asked.status)));
    }
  }
  query.member = unless_empty(asked.member);
  query.related_id = unless_empty(asked.related_id);
  query.type = unless_empty(asked.type);
  if (!asked.tenant.empty()) query.tenant = task::Tenant(asked.tenant);
  query.from = asked.from;
  query.before = asked.before;
  return query;
}

Result<FailurePage> Degrade::list(const FailureQuery& query, std::size_t limit,
                                  std::string_view after) {
  if (limit < 1 || limit > store::kPageRowsMax) {
    return fail(ErrorCode::kInvalid,
                fmt::format("limit must be between 1 and {}, not {}", store::kPageRowsMax, limit));
  }
  const auto asked = impl_->query_of(query);
  if (!asked) return fail(asked.error());
  std::optional<task::TaskId> cursor;
  if (!after.empty()) {
    const auto parsed = task::parse_task_id("after", after);
    if (!parsed) return fail(parsed.error());
    cursor = *parsed;
  }
  const auto page = degrade::list(impl_->engine.store.opened->reader(), *asked, cursor, limit,
                                  embed::kReadPatience);
  if (!page) return fail(page.error());
  return FailurePage{.records = views_of(page->records),
                     .next = page->next ? task::to_string(*page->next) : ""};
}

Result<FailureRecord> Degrade::find(std::string_view id) {
  const auto parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  const auto record = degrade::find(impl_->engine.store.opened->reader(), impl_->kinds, *parsed,
                                    embed::kReadPatience);
  if (!record) return fail(record.error());
  return view_of(*record);
}

Result<std::string> Degrade::retry(std::string_view id, std::string_view by) {
  const auto parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  const auto record = degrade::find(impl_->engine.store.opened->reader(), impl_->kinds, *parsed,
                                    embed::kReadPatience);
  if (!record) return fail(record.error());
  const auto move = degrade::move_to_retry(*record);
  if (!move) return fail(move.error());
  return impl_->engine.control(id, *move, by);
}

Result<RetriedMany> Degrade::retry_all(FailureQuery query, std::size_t bound, std::string_view by,
                                       const std::function<bool(const RetriedMany&)>& told) {
  if (bound < 1) return fail(ErrorCode::kInvalid, "bound must be at least 1");
  if (query.status.empty()) query.status = degrade::to_string(degrade::Status::kFailed);
  const auto asked = impl_->query_of(query);
  if (!asked) return fail(asked.error());
  const auto tell = [&](const degrade::RetryProgress& progress) {
    return !told || told(many_of(progress));
  };
  const auto done = degrade::retry_all(*impl_->engine.store.opened, *asked, bound, by, tell,
                                       embed::kReadPatience);
  impl_->engine.tell_owners();
  if (!done) return fail(done.error());
  return many_of(*done);
}

Result<std::size_t> Degrade::clean(Duration older_than, std::string_view by) {
  if (older_than < Duration::zero()) {
    return fail(ErrorCode::kInvalid, "older_than must not be negative");
  }
  const SystemClock& clock = impl_->engine.clock;
  return degrade::clean(*impl_->engine.store.opened, impl_->kinds,
                        saturating_add(clock.now(), -older_than), by, impl_->engine.log,
                        embed::kReadPatience);
}

Result<FailureSummary> Degrade::summary() {
  const auto summary = degrade::summarise(impl_->engine.store.opened->reader(), impl_->kinds,
                                          std::nullopt, embed::kReadPatience);
  if (!summary) return fail(summary.error());
  return FailureSummary{.pending = summary->counts.at(degrade::Status::kPending),
                        .completed = summary->counts.at(degrade::Status::kCompleted),
                        .failed = summary->counts.at(degrade::Status::kFailed),
                        .newest_failed = views_of(summary->newest_failed),
                        .most_retried = views_of(summary->most_retried),
                        .saw_all_pending = summary->saw_all_pending,
                        .spooled_bytes = spooled_bytes()};
}

std::size_t Degrade::spooled_bytes() const {
  const degrade::Spool* spool = impl_->recorder.spool();
  return spool == nullptr ? 0 : spool->bytes();
}

}  // namespace recourse
