// Questions about messages, and what people do with them. Nothing has a table of its own: all of it
// is asked of tasks of the message kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "message/envelope.h"
#include "message/status.h"
#include "store/history.h"
#include "store/opened.h"
#include "store/reader.h"

namespace recourse::message {

// As people see it (MSG-2).
struct Record {
  task::TaskId id = {};
  task::Kind kind = {};
  task::Tenant tenant = {};
  Envelope envelope = {};
  std::string body = {};
  Status status = Status::kRetrying;
  task::State state = task::State::kPending;
  // Why it failed last; empty where it did not.
  std::string error_code = {};
  std::string error = {};
  int retries_left = 0;
  int max_retries = 0;
  // Runs of the handler over all episodes.
  int attempts = 0;
  // Grows with every change.
  std::int64_t version = 0;
  // In the past while it runs.
  std::optional<TimePoint> next_retry_at = std::nullopt;
  TimePoint created_at = {};
  // When it was last tried, or ended.
  TimePoint updated_at = {};
  std::optional<TimePoint> ended_at = std::nullopt;
};

// kNotFound where the task is no message's. When one that waits was last tried is not in its row:
// list and find ask its attempts.
Result<Record> record_of(const task::Task& task);

// One attempt (MSG-5).
struct HistoryEntry {
  int attempt = 1;
  TimePoint operation_time = {};
  std::string exception_type = {};
  std::string error_code = {};
  std::string error_message = {};
  std::string consumer_ip = {};
  std::string stack_trace = {};
  std::optional<Duration> retry_delay = std::nullopt;
  // FAILED or SUCCESS.
  std::string result = {};
  // A JSON object; empty where there is none.
  std::string custom_data = {};
};

// What a consumer knows of a failed attempt beside its reason: written as a note with the outcome,
// in one line of JSON that begins with kDetailMark, and read back into the history.
struct AttemptDetail {
  std::string exception_type = {};
  std::string consumer_ip = {};
  std::string stack_trace = {};
  std::string custom_data = {};
};
inline constexpr std::string_view kDetailMark = "message:";
// Fits into a note: the stack trace is cut first.
std::string to_note(const AttemptDetail& detail);
std::optional<AttemptDetail> detail_of(std::string_view note);

// Oldest first.
std::vector<HistoryEntry> history_of(const task::Task& task,
                                     const std::vector<store::Attempt>& attempts,
                                     const std::vector<store::Note>& notes);

struct Query {
  // The message kinds that are meant. None: nothing is found.
  std::vector<task::Kind> kinds = {};
  std::optional<Status> status = std::nullopt;
  std::optional<std::string> message_id = std::nullopt;
  std::optional<std::string> business_id = std::nullopt;
  std::optional<std::string> topic = std::nullopt;
  std::optional<std::string> group = std::nullopt;
  std::optional<std::string> source = std::nullopt;
  std::optional<task::Tenant> tenant = std::nullopt;
  // When it was recorded; half open.
  std::optional<TimePoint> from = std::nullopt;
  std::optional<TimePoint> before = std::nullopt;
};

struct Page {
  std::vector<Record> records;  // newest first
  // Goes into the next call; empty at the end. A page may be short and still have one.
  std::optional<task::TaskId> next = std::nullopt;
};

bool matches(const Query& query, const task::Task& task);

Result<Page> list(store::Reader& reader, const Query& query, std::optional<task::TaskId> after,
                  std::size_t limit, Duration within);
Result<Record> find(store::Reader& reader, const std::vector<task::Kind>& kinds, task::TaskId id,
                    Duration within);
// Of what the query finds, the one that needs attention most, and of several such the newest; empty
// where it finds nothing. The other one asks by message id, and by group where one is given.
Result<std::optional<Record>> find_most_urgent(store::Reader& reader, const Query& query,
                                               Duration within);
Result<std::optional<Record>> find_by_message_id(store::Reader& reader,
                                                 const std::vector<task::Kind>& kinds,
                                                 std::string_view message_id,
                                                 const std::optional<std::string>& group,
                                                 Duration within);

// What a person wants of one (MSG-8): to retry it, to say that it was seen to elsewhere, or that
// nothing is to be done. kConflict with why not, where it has ended already.
Result<task::Move> move_to_retry(const Record& record);
Result<task::Move> move_to_processed(const Record& record);
Result<task::Move> move_to_ignored(const Record& record);

// Figures of MSG-11. Counts are kept by the writers for everybody, so a tenant's own are not told,
// nor what follows from them.
struct Summary {
  // Without those that were published again, or cancelled as tasks.
  std::map<Status, std::int64_t> counts;
  // These.
  std::int64_t cancelled = 0;
  // Of those that have ended: processed / (processed + pending + ignored); empty where none has.
  std::optional<double> success_rate = std::nullopt;
  // Over the newest records that were looked at (at most kSummaryLooks).
  double average_retries = 0;
  std::vector<Record> newest_pending;
};
inline constexpr std::size_t kSummaryLooks = 1'000;
inline constexpr std::size_t kSummaryRows = 10;

Result<Summary> summarise(store::Reader& reader, const std::vector<task::Kind>& kinds,
                          std::optional<task::Tenant> tenant, Duration within);

// MSG-10: processed ones that ended before the one time, ignored ones before the other. PENDING
// ones are a person's to decide on, whatever their age.
inline constexpr Duration kKeepProcessed = std::chrono::hours(24 * 30);
inline constexpr Duration kKeepIgnored = std::chrono::hours(24 * 90);
Result<std::size_t> clean(store::OpenedStore& opened, const std::vector<task::Kind>& kinds,
                          TimePoint processed_before, TimePoint ignored_before, std::string_view by,
                          Log& log, Duration within);

}  // namespace recourse::message
