#include "store/postgres/inbox.h"

#include <algorithm>
#include <utility>

#include "store/postgres/columns.h"
#include "store/postgres/transaction.h"

namespace recourse::store::postgres {
namespace {

using relational::Marks;
using enum sql::postgres::Element;

// Joined by arrays, as the statements of statements.h are.
constexpr std::string_view kFindMarks = R"sql(
  SELECT i.id, i.task_id FROM unnest(?::bytea[]) AS wanted (id)
    JOIN recourse_inbox i ON i.id = ANY (ARRAY[wanted.id]))sql";

// Waits for whoever is about to mark one of them. Answers the new ones.
constexpr std::string_view kInsertMarks = R"sql(
  INSERT INTO recourse_inbox (id, task_id, expires_at)
  SELECT a.id, COALESCE(a.task_id, ?), COALESCE(a.keep_for, ?) + at.now
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) AS at,
    unnest(?::bytea[], ?::bytea[], ?::bigint[]) AS a (id, task_id, keep_for)
  ON CONFLICT (id) DO NOTHING RETURNING id)sql";

constexpr std::string_view kDeleteMarks = R"sql(
  WITH gone AS (
    DELETE FROM recourse_inbox i USING unnest(?::bytea[]) AS wanted (id)
    WHERE i.id = ANY (ARRAY[wanted.id]) RETURNING 1)
  SELECT count(*) FROM gone)sql";

// The array is made once, so that no more are deleted than were locked.
constexpr std::string_view kDeleteMarksBefore = R"sql(
  WITH gone AS (
    DELETE FROM recourse_inbox WHERE id = ANY (ARRAY(
      SELECT id FROM recourse_inbox WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
      FOR UPDATE SKIP LOCKED)) RETURNING 1)
  SELECT count(*) FROM gone)sql";

std::vector<sql::postgres::Param> array_of(std::span<const MessageKey> keys) {
  Columns columns({kBytea}, keys.size());
  for (const MessageKey& key : keys) columns.text(key.value);
  return std::move(columns).finish();
}

}  // namespace

Result<Marks> find_marks(sql::Connection& connection, const relational::Dialect&,
                         std::span<const MessageKey> keys) {
  // The backend opens no other kind.
  auto& postgres = static_cast<sql::postgres::PostgresConnection&>(connection);
  relational::FoundMarks found;
  const Result<> asked =
      postgres.query_with(kFindMarks, array_of(keys), [&](const sql::Row& row) { found.add(row); });
  if (!asked) return fail(asked.error());
  return found.in_order_of(keys);
}

Result<Marks> PostgresTransaction::find_marks(std::span<const MessageKey> keys) {
  return postgres::find_marks(connection_, seat().dialect, keys);
}

Result<std::vector<bool>> PostgresTransaction::insert_marks(std::span<const NewMark> marks) {
  Columns columns({kBytea, kBytea, kInt8}, marks.size());
  for (const NewMark& mark : marks) {
    columns.text(mark.key->value);
    if (mark.task) {
      columns.id(mark.task->value);
    } else {
      columns.null();
    }
    columns.integer(mark.keep_for.count());
  }
  std::vector<bool> fresh(marks.size(), false);
  const auto key_of = [](const NewMark& mark) { return std::string_view(mark.key->value); };
  const Result<> asked =
      connection_.query_with(kInsertMarks, std::move(columns).finish(), [&](const sql::Row& row) {
        const auto mark = std::ranges::lower_bound(marks, row.bytes(0), {}, key_of);
        fresh[static_cast<std::size_t>(mark - marks.begin())] = true;
      });
  if (!asked) return fail(asked.error());
  return fresh;
}

Result<std::size_t> PostgresTransaction::delete_marks(std::span<const MessageKey> keys) {
  std::size_t deleted = 0;
  const Result<> asked = connection_.query_with(
      kDeleteMarks, array_of(keys),
      [&](const sql::Row& row) { deleted = static_cast<std::size_t>(row.integer(0)); });
  if (!asked) return fail(asked.error());
  return deleted;
}

Result<std::size_t> PostgresTransaction::delete_marks_before(TimePoint time, std::size_t limit) {
  relational::Values values;
  values.time(time).integer(static_cast<std::int64_t>(limit));
  std::size_t deleted = 0;
  const Result<> asked = connection_.query(
      kDeleteMarksBefore, values.view(),
      [&](const sql::Row& row) { deleted = static_cast<std::size_t>(row.integer(0)); });
  if (!asked) return fail(asked.error());
  return deleted;
}

}  // namespace recourse::store::postgres
