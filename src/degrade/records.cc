#include "degrade/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/limits.h"

namespace recourse::degrade {
namespace {

// One that makes the rest cheap goes to the store; what it leaves is looked at here. Related ids
// name few records, members some, types many.
std::optional<std::pair<std::string, std::string>> narrowest_key(const Query& query) {
  if (query.related_id) return std::pair(std::string(kRelatedKey), *query.related_id);
  if (query.member) return std::pair(std::string(kMemberKey), *query.member);
  if (query.type) return std::pair(std::string(kTypeKey), *query.type);
  return std::nullopt;
}

store::Filter filter_of(const Query& query) {
  store::Filter filter;
  filter.kinds = query.kinds;
  filter.tenant = query.tenant;
  filter.search_key = narrowest_key(query);
  if (query.status) filter.states = states_of(*query.status);
  return filter;
}

// Ids are made when the call fails and sort by that time, so a time is a place among them. The
// smallest id of that millisecond.
task::TaskId first_id_at(TimePoint time) {
  const auto since = std::chrono::ceil<std::chrono::milliseconds>(time.time_since_epoch()).count();
  auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(since, 0));
  Ulid id;
  for (std::size_t i = 6; i-- > 0; left >>= 8) id.bytes[i] = static_cast<std::uint8_t>(left & 0xFF);
  return task::TaskId(id);
}

bool has_key(const task::Task& task, std::string_view name,
             const std::optional<std::string>& value) {
  if (!value) return true;
  const auto found = task.spec.search_keys.find(std::string(name));
  return found != task.spec.search_keys.end() && found->second == *value;
}

// Where the row alone does not tell when it was last tried.
Result<> complete(store::Reader& reader, Record& record, Duration within) {
  if (!needs_attempts(record)) return {};
  const auto attempts = reader.attempts(record.id, within);
  if (!attempts) return fail(attempts.error());
  if (!attempts->empty()) record.last_retry_at = attempts->back().started_at;
  return {};
}

using Take = std::function<bool(const task::Task&)>;

// Hands over what the query finds until `take` has enough; answers where to go on. Looks at a
// bounded number of pages, so that a query which finds little ends too.
Result<std::optional<task::TaskId>> walk(store::Reader& reader, const Query& query,
                                         std::optional<task::TaskId> after, const Take& take,
                                         Duration within) {
  constexpr int kPagesMax = 10;
  if (query.kinds.empty()) return std::optional<task::TaskId>();
  const store::Filter filter = filter_of(query);
  if (query.before)
    after = after ? std::min(*after, first_id_at(*query.before)) : first_id_at(*query.before);
  for (int page = 0; page < kPagesMax; ++page) {
    const auto found = reader.list(filter, after, store::kPageRowsMax, within);
    if (!found) return fail(found.error());
    for (const task::Task& task : found->tasks) {
      if (query.from && task.id < first_id_at(*query.from)) return std::optional<task::TaskId>();
      if (matches(query, task) && !take(task)) return std::optional(task.id);
    }
    after = found->next;
    if (!after || (query.from && *after < first_id_at(*query.from))) {
      return std::optional<task::TaskId>();
    }
  }
  return after;
}

}  // namespace

bool matches(const Query& query, const task::Task& task) {
  return std::ranges::count(query.kinds, task.spec.kind) > 0 &&
         (!query.status || status_of(task.state) == *query.status) &&
         (!query.tenant || task.spec.tenant == *query.tenant) &&
         has_key(task, kMemberKey, query.member) && has_key(task, kRelatedKey, query.related_id) &&
         has_key(task, kTypeKey, query.type) &&
         (!query.from || task.id >= first_id_at(*query.from)) &&
         (!query.before || task.id < first_id_at(*query.before));
}

Result<Page> list(store::Reader& reader, const Query& query, std::optional<task::TaskId> after,
                  std::size_t limit, Duration within) {
  Page page;
  const auto next = walk(
      reader, query, after,
      [&](const task::Task& task) {
        page.records.push_back(record_of(task));
        return page.records.size() < limit;
      },
      within);
  if (!next) return fail(next.error());
  page.next = *next;
  for (Record& record : page.records) {
    if (Result<> told = complete(reader, record, within); !told) return fail(told.error());
  }
  return page;
}

Result<Record> find(store::Reader& reader, const std::vector<task::Kind>& kinds, task::TaskId id,
                    Duration within) {
  const auto task = reader.find(id, within);
  if (!task) return fail(task.error());
  if (std::ranges::count(kinds, task->spec.kind) == 0) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is no failure record: its kind {} is not a degrade kind",
                            task::to_string(id), task->spec.kind.value));
  }
  Record record = record_of(*task);
  if (Result<> told = complete(reader, record, within); !told) return fail(told.error());
  return record;
}

Result<Summary> summarise(store::Reader& reader, const std::vector<task::Kind>& kinds,
                          std::optional<task::Tenant> tenant, Duration within) {
  Summary summary;
  for (const Status status : kAllStatuses) summary.counts[status] = 0;
  const auto counts = reader.counts(within);
  if (!counts) return fail(counts.error());
  for (const auto& [key, count] : *counts) {
    if (!tenant && std::ranges::count(kinds, key.first) > 0) {
      summary.counts[status_of(key.second)] += count;
    }
  }
  Query query{.kinds = kinds, .status = Status::kFailed, .tenant = std::move(tenant)};
  auto newest = list(reader, query, std::nullopt, kSummaryRows, within);
  if (!newest) return fail(newest.error());
  summary.newest_failed = std::move(newest->records);
  query.status = Status::kPending;
  std::size_t looked = 0;
  const auto rest = walk(
      reader, query, std::nullopt,
      [&](const task::Task& task) {
        if (task.retries > 0) summary.most_retried.push_back(record_of(task));
        return ++looked < kMostRetriedLooks;
      },
      within);
  if (!rest) return fail(rest.error());
  summary.saw_all_pending = !rest->has_value();
  std::ranges::stable_sort(summary.most_retried, std::greater(), &Record::retries);
  if (summary.most_retried.size() > kSummaryRows) summary.most_retried.resize(kSummaryRows);
  for (Record& record : summary.most_retried) {
    if (Result<> told = complete(reader, record, within); !told) return fail(told.error());
  }
  return summary;
}

Result<task::Move> move_to_retry(const Record& record) {
  switch (record.status) {
    case Status::kPending:
      return record.state == task::State::kPaused ? task::Move::kResume : task::Move::kRetryNow;
    case Status::kFailed: return task::Move::kReopen;
    case Status::kCompleted: break;
  }
  return fail(ErrorCode::kConflict,
              fmt::format("{} is COMPLETED ({}): there is nothing left to retry",
                          task::to_string(record.id), to_string(record.state)));
}

namespace {

// All of one page that want the same move.
Result<> retry_some(store::OpenedStore& opened, const std::vector<task::TaskId>& ids,
                    task::Move move, std::string_view by, RetryProgress& progress,
                    Duration within) {
  if (ids.empty()) return {};
  task::Order order;
  order.move = move;
  const auto answer = opened.store().control(ids, order, by, within);
  if (!answer) return fail(answer.error());
  for (const store::ControlItem& item : answer->items) {
    ++(item.effect ? progress.retried : progress.refused);
  }
  return {};
}

Result<> retry_page(store::OpenedStore& opened, const std::vector<Record>& records,
                    std::string_view by, RetryProgress& progress, Duration within) {
  std::map<task::Move, std::vector<task::TaskId>> by_move;
  for (const Record& record : records) {
    if (const auto move = move_to_retry(record)) by_move[*move].push_back(record.id);
  }
  for (const auto& [move, ids] : by_move) {
    if (Result<> done = retry_some(opened, ids, move, by, progress, within); !done) return done;
  }
  return {};
}

}  // namespace

Result<RetryProgress> retry_all(store::OpenedStore& opened, const Query& query, std::size_t bound,
                                std::string_view by,
                                const std::function<bool(const RetryProgress&)>& told,
                                Duration within) {
  RetryProgress progress;
  std::optional<task::TaskId> after;
  std::size_t left = bound;
  do {
    const std::size_t limit = std::min(left, store::kBatchRowsMax);
    const auto page = list(opened.reader(), query, after, limit, within);
    if (!page) return fail(page.error());
    if (Result<> done = retry_page(opened, page->records, by, progress, within); !done) {
      return fail(done.error());
    }
    left -= std::min(left, page->records.size());
    after = page->next;
    progress.more = after.has_value();
    if (told && !told(progress)) break;
  } while (after && left > 0);
  return progress;
}

Result<std::size_t> clean(store::OpenedStore& opened, const std::vector<task::Kind>& kinds,
                          TimePoint ended_before, std::string_view by, Log& log, Duration within) {
  std::size_t cleaned = 0;
  for (const task::Kind& kind : kinds) {
    store::PurgeRequest request;
    request.states = states_of(Status::kCompleted);
    request.kind = kind;
    request.ended_before = ended_before;
    request.by = std::string(by);
    std::size_t batch = request.limit;
    while (batch == request.limit) {
      const auto purged = opened.store().purge(request, within);
      if (!purged) return fail(purged.error());
      batch = *purged;
      cleaned += batch;
    }
  }
  log.info("degrade_cleaned", {{"records", std::to_string(cleaned)}, {"by", std::string(by)}});
  return cleaned;
}

}  // namespace recourse::degrade
