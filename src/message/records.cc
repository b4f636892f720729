#include "message/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "store/limits.h"

namespace recourse::message {
namespace {

// One that makes the rest cheap goes to the store; what it leaves is looked at here. A message id
// names one record or a few, a source thousands.
std::optional<std::pair<std::string, std::string>> narrowest_key(const Query& query) {
  const std::pair<std::string_view, const std::optional<std::string>&> by_width[] = {
      {kMessageIdKey, query.message_id},
      {kBusinessIdKey, query.business_id},
      {kTopicKey, query.topic},
      {kGroupKey, query.group},
      {kSourceKey, query.source}};
  for (const auto& [name, value] : by_width) {
    if (value) return std::pair(std::string(name), search_text(*value));
  }
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

// Ids are made when a message is recorded and sort by that time, so a time is a place among them.
// The smallest id of that millisecond.
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
  return found != task.spec.search_keys.end() && found->second == search_text(*value);
}

// The row of one that waits does not tell when it was last tried.
Result<> complete(store::Reader& reader, Record& record, Duration within) {
  if (record.attempts == 0 || record.ended_at) return {};
  const auto attempts = reader.attempts(record.id, within);
  if (!attempts) return fail(attempts.error());
  if (!attempts->empty()) record.updated_at = attempts->back().ended_at;
  return {};
}

using Take = std::function<bool(Record)>;

// Hands over what the query finds until `take` has enough; answers where to go on. Looks at a
// bounded number of pages, so that a query which finds little ends too.
Result<std::optional<task::TaskId>> walk(store::Reader& reader, const Query& query,
                                         std::optional<task::TaskId> after, const Take& take,
                                         Duration within) {
  constexpr int kPagesMax = 10;
  if (query.kinds.empty()) return std::optional<task::TaskId>();
  const store::Filter filter = filter_of(query);
  if (query.before) {
    const task::TaskId end = first_id_at(*query.before);
    after = after ? std::min(*after, end) : end;
  }
  for (int page = 0; page < kPagesMax; ++page) {
    const auto found = reader.list(filter, after, store::kPageRowsMax, within);
    if (!found) return fail(found.error());
    for (const task::Task& task : found->tasks) {
      if (query.from && task.id < first_id_at(*query.from)) return std::optional<task::TaskId>();
      if (!matches(query, task)) continue;
      // A task of the kind that somebody submitted is no message.
      auto record = record_of(task);
      if (record && !take(*std::move(record))) return std::optional(task.id);
    }
    after = found->next;
    if (!after || (query.from && *after < first_id_at(*query.from))) {
      return std::optional<task::TaskId>();
    }
  }
  return after;
}

// What was published again is told only where there is nothing else to tell of the message.
int urgency(const Record& record) {
  return is_counted(record.state) ? attention(record.status) : -1;
}

std::optional<double> success_rate_of(const std::map<Status, std::int64_t>& counts) {
  const std::int64_t processed = counts.at(Status::kProcessed);
  const std::int64_t ended = processed + counts.at(Status::kPending) + counts.at(Status::kIgnored);
  if (ended == 0) return std::nullopt;
  return static_cast<double>(processed) / static_cast<double>(ended);
}

Result<double> average_retries(store::Reader& reader, const Query& query, Duration within) {
  std::size_t looked = 0;
  std::int64_t retries = 0;
  const auto rest = walk(
      reader, query, std::nullopt,
      [&](const Record& record) {
        if (!is_counted(record.state)) return true;
        retries += std::max(0, record.attempts - 1);
        return ++looked < kSummaryLooks;
      },
      within);
  if (!rest) return fail(rest.error());
  return looked == 0 ? 0.0 : static_cast<double>(retries) / static_cast<double>(looked);
}

Result<std::size_t> purge_all(store::OpenedStore& opened, const task::Kind& kind, Status status,
                              TimePoint ended_before, std::string_view by, Duration within) {
  store::PurgeRequest request;
  request.states = states_of(status);
  request.kind = kind;
  request.ended_before = ended_before;
  request.by = std::string(by);
  std::size_t purged = 0;
  std::size_t batch = request.limit;
  while (batch == request.limit) {
    const auto some = opened.store().purge(request, within);
    if (!some) return fail(some.error());
    batch = *some;
    purged += batch;
  }
  return purged;
}

}  // namespace

bool matches(const Query& query, const task::Task& task) {
  return std::ranges::count(query.kinds, task.spec.kind) > 0 &&
         (!query.status || status_of(task.state) == *query.status) &&
         (!query.tenant || task.spec.tenant == *query.tenant) &&
         has_key(task, kMessageIdKey, query.message_id) &&
         has_key(task, kBusinessIdKey, query.business_id) &&
         has_key(task, kTopicKey, query.topic) && has_key(task, kGroupKey, query.group) &&
         has_key(task, kSourceKey, query.source) &&
         (!query.from || task.id >= first_id_at(*query.from)) &&
         (!query.before || task.id < first_id_at(*query.before));
}

Result<Page> list(store::Reader& reader, const Query& query, std::optional<task::TaskId> after,
                  std::size_t limit, Duration within) {
  Page page;
  const auto next = walk(
      reader, query, after,
      [&](Record record) {
        page.records.push_back(std::move(record));
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
                fmt::format("{} is no message: its kind {} is not a message kind",
                            task::to_string(id), task->spec.kind.value));
  }
  auto record = record_of(*task);
  if (!record) return record;
  if (Result<> told = complete(reader, *record, within); !told) return fail(told.error());
  return record;
}

Result<std::optional<Record>> find_most_urgent(store::Reader& reader, const Query& query,
                                               Duration within) {
  std::optional<Record> found;
  const auto rest = walk(
      reader, query, std::nullopt,
      [&](Record record) {
        const bool is_more_urgent = !found || urgency(record) > urgency(*found);
        if (is_more_urgent) found = std::move(record);
        return found->status != Status::kPending;
      },
      within);
  if (!rest) return fail(rest.error());
  if (found) {
    if (Result<> told = complete(reader, *found, within); !told) return fail(told.error());
  }
  return found;
}

Result<std::optional<Record>> find_by_message_id(store::Reader& reader,
                                                 const std::vector<task::Kind>& kinds,
                                                 std::string_view message_id,
                                                 const std::optional<std::string>& group,
                                                 Duration within) {
  return find_most_urgent(
      reader, {.kinds = kinds, .message_id = std::string(message_id), .group = group}, within);
}

Result<Summary> summarise(store::Reader& reader, const std::vector<task::Kind>& kinds,
                          std::optional<task::Tenant> tenant, Duration within) {
  Summary summary;
  for (const Status status : kAllStatuses) summary.counts[status] = 0;
  const auto counts = reader.counts(within);
  if (!counts) return fail(counts.error());
  for (const auto& [key, count] : *counts) {
    if (tenant || std::ranges::count(kinds, key.first) == 0) continue;
    (is_counted(key.second) ? summary.counts[status_of(key.second)] : summary.cancelled) += count;
  }
  summary.success_rate = success_rate_of(summary.counts);
  Query query{.kinds = kinds, .tenant = std::move(tenant)};
  const auto retries = average_retries(reader, query, within);
  if (!retries) return fail(retries.error());
  summary.average_retries = *retries;
  query.status = Status::kPending;
  auto newest = list(reader, query, std::nullopt, kSummaryRows, within);
  if (!newest) return fail(newest.error());
  summary.newest_pending = std::move(newest->records);
  return summary;
}

Result<std::size_t> clean(store::OpenedStore& opened, const std::vector<task::Kind>& kinds,
                          TimePoint processed_before, TimePoint ignored_before, std::string_view by,
                          Log& log, Duration within) {
  std::size_t cleaned = 0;
  for (const task::Kind& kind : kinds) {
    for (const auto& [status, before] : {std::pair(Status::kProcessed, processed_before),
                                         std::pair(Status::kIgnored, ignored_before)}) {
      const auto purged = purge_all(opened, kind, status, before, by, within);
      if (!purged) return fail(purged.error());
      cleaned += *purged;
    }
  }
  log.info("message_cleaned", {{"records", std::to_string(cleaned)}, {"by", std::string(by)}});
  return cleaned;
}

}  // namespace recourse::message
