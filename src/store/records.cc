#include "store/records.h"

#include <fmt/format.h>

#include "base/field_checks.h"
#include "store/batch.h"
#include "store/transactional_records.h"

namespace recourse::store {
namespace {

Result<> check_name(std::string_view space, std::string_view name) {
  if (space.empty() || space.size() > kRecordSpaceBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a record's space has 1 to {} bytes, this has {}",
                                                 kRecordSpaceBytesMax, space.size()));
  }
  if (name.empty() || name.size() > kRecordNameBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a record's name has 1 to {} bytes, this has {}",
                                                 kRecordNameBytesMax, name.size()));
  }
  return {};
}

Result<> check_record(const Record& record) {
  if (Result<> named = check_name(record.space, record.name); !named) return named;
  if (record.value.size() <= kRecordValueBytesMax) return {};
  return fail(ErrorCode::kInvalid, fmt::format("a record's value has up to {} bytes, this has {}",
                                               kRecordValueBytesMax, record.value.size()));
}

bool is_over(const Record& record, TimePoint now) {
  return record.expires_at && *record.expires_at <= now;
}

std::optional<TimePoint> end_of(std::optional<Duration> lives_for, TimePoint now) {
  if (!lives_for) return std::nullopt;
  return saturating_add(now, *lives_for);
}

Result<> check_deed(const std::optional<Deed>& deed) {
  return deed ? check_actor(deed->actor) : Result<>();
}

Result<> write_deed(Transaction& transaction, const std::optional<Deed>& deed, TimePoint now) {
  if (!deed) return {};
  const AuditEntry entry{.at = now,
                         .task = std::nullopt,
                         .actor = deed->actor,
                         .action = deed->action,
                         .detail = deed->detail,
                         .fence = {}};
  return transaction.add_audit({&entry, 1});
}

}  // namespace

Result<AddedRecord> TransactionalRecords::add(const Record& record,
                                              std::optional<Duration> lives_for, Duration within,
                                              const std::optional<Deed>& deed) {
  if (Result<> valid = check_record(record); !valid) return fail(valid.error());
  if (Result<> valid = check_deed(deed); !valid) return fail(valid.error());
  AddedRecord answer;
  // Run again it would take its own first write for somebody else's.
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kInDoubt, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        auto there = transaction.lock_record(record.space, record.name);
        if (!there) return Result<>(fail(there.error()));
        if (*there && !is_over(**there, *now)) {
          answer = {.added = false, .record = **std::move(there)};
          return Result<>();
        }
        answer = {.added = true, .record = record};
        answer.record.version = 1;
        answer.record.expires_at = end_of(lives_for, *now);
        Result<> written = *there ? transaction.write_record(answer.record)
                                  : transaction.insert_record(answer.record);
        return written ? write_deed(transaction, deed, *now) : written;
      });
  if (!ran) return fail(ran.error());
  return answer;
}

Result<Record> TransactionalRecords::replace(const Record& record,
                                             std::optional<Duration> lives_for, Duration within) {
  if (Result<> valid = check_record(record); !valid) return fail(valid.error());
  Record written;
  std::optional<Error> refused;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kInDoubt, within, [&](Transaction& transaction) {
        refused = std::nullopt;
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        const auto there = transaction.lock_record(record.space, record.name);
        if (!there) return Result<>(fail(there.error()));
        if (!*there || is_over(**there, *now)) {
          refused = Error{ErrorCode::kNotFound, "it is not there any more"};
          return Result<>();
        }
        if ((*there)->version != record.version) {
          refused = Error{ErrorCode::kConflict, "somebody else changed it first: read it again"};
          return Result<>();
        }
        written = record;
        ++written.version;
        written.expires_at = end_of(lives_for, *now);
        return transaction.write_record(written);
      });
  if (!ran) return fail(ran.error());
  if (refused) return fail(*refused);
  return written;
}

Result<bool> TransactionalRecords::remove(std::string_view space, std::string_view name,
                                          Duration within, const std::optional<Deed>& deed) {
  if (Result<> valid = check_name(space, name); !valid) return fail(valid.error());
  if (Result<> valid = check_deed(deed); !valid) return fail(valid.error());
  bool removed = false;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kInDoubt, within, [&](Transaction& transaction) {
        const Result<bool> deleted = transaction.delete_record(space, name);
        if (!deleted) return Result<>(fail(deleted.error()));
        removed = *deleted;
        if (!removed || !deed) return Result<>();
        const Result<TimePoint> now = transaction.now();
        return now ? write_deed(transaction, deed, *now) : Result<>(fail(now.error()));
      });
  if (!ran) return fail(ran.error());
  return removed;
}

Result<std::optional<Record>> TransactionalRecords::find(std::string_view space,
                                                         std::string_view name, Duration within) {
  if (Result<> valid = check_name(space, name); !valid) return fail(valid.error());
  std::optional<Record> found;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        auto there = transaction.lock_record(space, name);
        if (!there) return Result<>(fail(there.error()));
        found = *std::move(there);
        if (found && is_over(*found, *now)) found = std::nullopt;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return found;
}

Result<RecordPage> TransactionalRecords::list(std::string_view space,
                                              std::optional<std::string> after, std::size_t limit,
                                              Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  RecordPage page;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        auto found = transaction.list_records(space, after.value_or(""), limit);
        if (!found) return Result<>(fail(found.error()));
        page.records = *std::move(found);
        page.next = std::nullopt;
        if (page.records.size() == limit) page.next = page.records.back().name;
        std::erase_if(page.records, [&](const Record& record) { return is_over(record, *now); });
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return page;
}

Result<std::size_t> TransactionalRecords::sweep(std::size_t limit, Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  std::size_t swept = 0;
  const Result<> ran =
      backend_.run(Line::kWork, Repeat::kHarmless, within, [&](Transaction& transaction) {
        const Result<TimePoint> now = transaction.now();
        if (!now) return Result<>(fail(now.error()));
        const Result<std::size_t> deleted = transaction.delete_records_before(*now, limit);
        if (!deleted) return Result<>(fail(deleted.error()));
        swept = *deleted;
        return Result<>();
      });
  if (!ran) return fail(ran.error());
  return swept;
}

}  // namespace recourse::store
