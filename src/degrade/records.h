// Questions about failures, and what people do with many of them. Nothing has a table of its own:
// all of it is asked of tasks of the degrade kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "degrade/failure.h"
#include "store/opened.h"
#include "store/reader.h"

namespace recourse::degrade {

struct Query {
  // The degrade kinds that are meant. None: nothing is found.
  std::vector<task::Kind> kinds = {};
  // None: all.
  std::optional<Status> status = std::nullopt;
  std::optional<std::string> member = std::nullopt;
  std::optional<std::string> related_id = std::nullopt;
  std::optional<std::string> type = std::nullopt;
  std::optional<task::Tenant> tenant = std::nullopt;
  // Of the failure, to the millisecond; half open.
  std::optional<TimePoint> from = std::nullopt;
  std::optional<TimePoint> before = std::nullopt;
};

bool matches(const Query& query, const task::Task& task);

struct Page {
  std::vector<Record> records;  // newest first
  // Goes into the next call; empty at the end. A page may be short and still have one.
  std::optional<task::TaskId> next = std::nullopt;
};

Result<Page> list(store::Reader& reader, const Query& query, std::optional<task::TaskId> after,
                  std::size_t limit, Duration within);
// kNotFound also where there is such a task, but of another kind.
Result<Record> find(store::Reader& reader, const std::vector<task::Kind>& kinds, task::TaskId id,
                    Duration within);

inline constexpr std::size_t kSummaryRows = 10;
// How many pending records are looked at for those with the most retries.
inline constexpr std::size_t kMostRetriedLooks = 5'000;

struct Summary {
  std::map<Status, std::int64_t> counts;
  std::vector<Record> newest_failed;
  std::vector<Record> most_retried;
  // False: there are more pending records than were looked at for those with the most retries.
  bool saw_all_pending = true;
};

// Counts are kept by the writers for everybody, so a tenant's own are not told.
Result<Summary> summarise(store::Reader& reader, const std::vector<task::Kind>& kinds,
                          std::optional<task::Tenant> tenant, Duration within);

// Why not, where it is refused: kConflict for a completed one.
Result<task::Move> move_to_retry(const Record& record);

struct RetryProgress {
  std::size_t retried = 0;
  std::size_t refused = 0;
  // Where the query's end is not reached.
  bool more = false;
};

// Retries what the query finds, newest first and at most `bound`: PENDING ones at once, FAILED ones
// from the start; completed ones are passed over. What fails anew meanwhile is not caught. Told
// after every page; false ends it.
Result<RetryProgress> retry_all(store::OpenedStore& opened, const Query& query, std::size_t bound,
                                std::string_view by,
                                const std::function<bool(const RetryProgress&)>& told,
                                Duration within);

// Deletes completed records that ended longer than `age` ago, and logs how many. FAILED ones are a
// person's to decide on, whatever their age.
Result<std::size_t> clean(store::OpenedStore& opened, const std::vector<task::Kind>& kinds,
                          TimePoint ended_before, std::string_view by, Log& log, Duration within);

}  // namespace recourse::degrade
