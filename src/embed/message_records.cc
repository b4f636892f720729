// The message door: seeing and steering what was recorded.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "embed/messages_impl.h"
#include "message/records.h"
#include "store/limits.h"

namespace recourse {
namespace {

MessageStatus status_for_users(message::Status status) {
  return static_cast<MessageStatus>(message::number_of(status));
}

MessageRecord view_of(const message::Record& record) {
  const message::Envelope& envelope = record.envelope;
  MessageRecord view{.id = task::to_string(record.id),
                     .message_id = envelope.id,
                     .business_id = envelope.business_id,
                     .source = envelope.source,
                     .group = envelope.group,
                     .topic = envelope.topic,
                     .tags = envelope.tags,
                     .key = envelope.key,
                     .tenant = record.tenant.value,
                     .headers = {},
                     .body = record.body,
                     .status = status_for_users(record.status),
                     .error_code = record.error_code,
                     .error = record.error,
                     .retries_left = record.retries_left,
                     .max_retries = record.max_retries,
                     .attempts = record.attempts,
                     .version = record.version,
                     .next_retry_at = record.next_retry_at,
                     .created_at = record.created_at,
                     .updated_at = record.updated_at,
                     .ended_at = record.ended_at};
  for (const message::Header& header : envelope.headers) {
    view.headers.push_back({header.name, header.value});
  }
  return view;
}

std::vector<MessageRecord> views_of(const std::vector<message::Record>& records) {
  std::vector<MessageRecord> views;
  for (const message::Record& record : records) views.push_back(view_of(record));
  return views;
}

MessageAttempt attempt_of(message::HistoryEntry entry) {
  return {.attempt = entry.attempt,
          .operation_time = entry.operation_time,
          .exception_type = std::move(entry.exception_type),
          .error_code = std::move(entry.error_code),
          .error_message = std::move(entry.error_message),
          .consumer_ip = std::move(entry.consumer_ip),
          .stack_trace = std::move(entry.stack_trace),
          .retry_delay = entry.retry_delay,
          .result = std::move(entry.result),
          .custom_data = std::move(entry.custom_data)};
}

std::optional<std::string> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(std::string(text));
}

}  // namespace

Result<message::Query> Messages::Impl::query_of(const MessageQuery& asked) const {
  message::Query query{.kinds = door.kinds(),
                       .status = std::nullopt,
                       .message_id = unless_empty(asked.message_id),
                       .business_id = unless_empty(asked.business_id),
                       .topic = unless_empty(asked.topic),
                       .group = std::nullopt,
                       .source = unless_empty(asked.source),
                       .tenant = std::nullopt,
                       .from = asked.from,
                       .before = asked.before};
  if (asked.status) {
    query.status = message::kAllStatuses.at(static_cast<std::size_t>(*asked.status));
  }
  if (!asked.tenant.empty()) query.tenant = task::Tenant(asked.tenant);
  if (asked.group.empty()) return query;
  const embed::MessageGroup* group = door.find(asked.group);
  if (group == nullptr) {
    return fail(ErrorCode::kInvalid,
                fmt::format("query.group {} is no message group here", shown(asked.group)));
  }
  query.kinds = {group->handling.kind};
  return query;
}

Result<message::Record> Messages::Impl::record_of(std::string_view id) const {
  const auto parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  return message::find(engine.store.opened->reader(), door.kinds(), *parsed, embed::kReadPatience);
}

Result<std::optional<MessageRecord>> Messages::find_by_message_id(std::string_view message_id,
                                                                  std::string_view group) {
  const auto found =
      message::find_by_message_id(impl_->engine.store.opened->reader(), impl_->door.kinds(),
                                  message_id, unless_empty(group), embed::kReadPatience);
  if (!found) return fail(found.error());
  if (!*found) return std::optional<MessageRecord>();
  return std::optional(view_of(**found));
}

Result<std::optional<MessageStatus>> Messages::status(std::string_view message_id,
                                                      std::string_view group) {
  const auto found = find_by_message_id(message_id, group);
  if (!found) return fail(found.error());
  if (!*found) return std::optional<MessageStatus>();
  return std::optional((*found)->status);
}

Result<bool> Messages::mark_processed_by_message_id(std::string_view message_id,
                                                    std::string_view by, std::string_view group) {
  const auto found = find_by_message_id(message_id, group);
  if (!found) return fail(found.error());
  if (!*found) return false;
  const auto done = mark_processed((*found)->id, by);
  if (done) return true;
  if (done.error().code == ErrorCode::kConflict) return false;
  return fail(done.error());
}

Result<MessagePage> Messages::list(const MessageQuery& query, std::size_t limit,
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
  const auto page = message::list(impl_->engine.store.opened->reader(), *asked, cursor, limit,
                                  embed::kReadPatience);
  if (!page) return fail(page.error());
  return MessagePage{.records = views_of(page->records),
                     .next = page->next ? task::to_string(*page->next) : ""};
}

Result<MessageRecord> Messages::find(std::string_view id) {
  const auto record = impl_->record_of(id);
  if (!record) return fail(record.error());
  return view_of(*record);
}

Result<std::vector<MessageAttempt>> Messages::history(std::string_view id) {
  const auto record = impl_->record_of(id);
  if (!record) return fail(record.error());
  store::Reader& reader = impl_->engine.store.opened->reader();
  const auto task = reader.find(record->id, embed::kReadPatience);
  if (!task) return fail(task.error());
  const auto attempts = reader.attempts(record->id, embed::kReadPatience);
  if (!attempts) return fail(attempts.error());
  const auto notes = reader.notes(record->id, embed::kReadPatience);
  if (!notes) return fail(notes.error());
  std::vector<MessageAttempt> all;
  for (message::HistoryEntry& entry : message::history_of(*task, *attempts, *notes)) {
    all.push_back(attempt_of(std::move(entry)));
  }
  return all;
}

Result<std::string> Messages::Impl::steer(
    std::string_view id, std::string_view by,
    Result<task::Move> (*move_of)(const message::Record& record)) const {
  const auto record = record_of(id);
  if (!record) return fail(record.error());
  const auto move = move_of(*record);
  if (!move) return fail(move.error());
  return engine.control(id, *move, by);
}

Result<std::string> Messages::mark_processed(std::string_view id, std::string_view by) {
  return impl_->steer(id, by, message::move_to_processed);
}
Result<std::string> Messages::ignore(std::string_view id, std::string_view by) {
  return impl_->steer(id, by, message::move_to_ignored);
}
Result<std::string> Messages::retry(std::string_view id, std::string_view by) {
  return impl_->steer(id, by, message::move_to_retry);
}

Result<> Messages::Impl::retry_page(const std::vector<message::Record>& records,
                                    std::string_view by, RetriedMessages& progress) const {
  std::map<task::Move, std::vector<task::TaskId>> by_move;
  for (const message::Record& record : records) {
    if (const auto move = message::move_to_retry(record)) {
      by_move[*move].push_back(record.id);
    } else {
      ++progress.refused;
    }
  }
  for (const auto& [move, ids] : by_move) {
    task::Order order;
    order.move = move;
    const auto answer = engine.store.opened->store().control(ids, order, by, embed::kReadPatience);
    if (!answer) return fail(answer.error());
    for (const store::ControlItem& item : answer->items) {
      ++(item.effect ? progress.retried : progress.refused);
    }
  }
  return {};
}

Result<RetriedMessages> Messages::retry_all(
    MessageQuery query, std::size_t bound, std::string_view by,
    const std::function<bool(const RetriedMessages&)>& told) {
  if (bound < 1) return fail(ErrorCode::kInvalid, "bound must be at least 1");
  if (!query.status) query.status = MessageStatus::kPending;
  const auto asked = impl_->query_of(query);
  if (!asked) return fail(asked.error());
  RetriedMessages progress;
  std::optional<task::TaskId> after;
  std::size_t left = bound;
  do {
    const auto page = message::list(impl_->engine.store.opened->reader(), *asked, after,
                                    std::min(left, store::kBatchRowsMax), embed::kReadPatience);
    if (!page) return fail(page.error());
    const Result<> done = impl_->retry_page(page->records, by, progress);
    impl_->engine.tell_owners();
    if (!done) return fail(done.error());
    left -= std::min(left, page->records.size());
    after = page->next;
    progress.more = after.has_value();
    if (told && !told(progress)) break;
  } while (after && left > 0);
  return progress;
}

Result<std::size_t> Messages::clean(Duration processed_for, Duration ignored_for,
                                    std::string_view by) {
  if (processed_for < Duration::zero() || ignored_for < Duration::zero()) {
    return fail(ErrorCode::kInvalid, "processed_for and ignored_for must not be negative");
  }
  const TimePoint now = impl_->engine.clock.now();
  return message::clean(*impl_->engine.store.opened, impl_->door.kinds(),
                        saturating_add(now, -processed_for), saturating_add(now, -ignored_for), by,
                        impl_->engine.log, embed::kReadPatience);
}

Result<MessageSummary> Messages::summary() {
  const auto summary = message::summarise(impl_->engine.store.opened->reader(), impl_->door.kinds(),
                                          std::nullopt, embed::kReadPatience);
  if (!summary) return fail(summary.error());
  return MessageSummary{.retrying = summary->counts.at(message::Status::kRetrying),
                        .pending = summary->counts.at(message::Status::kPending),
                        .processed = summary->counts.at(message::Status::kProcessed),
                        .ignored = summary->counts.at(message::Status::kIgnored),
                        .cancelled = summary->cancelled,
                        .success_rate = summary->success_rate,
                        .average_retries = summary->average_retries,
                        .newest_pending = views_of(summary->newest_pending)};
}

}  // namespace recourse
