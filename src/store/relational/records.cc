#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

constexpr std::string_view kColumns = "space, name, value, version, expires_at";

Record read_record(const sql::Row& row) {
  Record record{.space = std::string(row.bytes(0)),
                .name = std::string(row.bytes(1)),
                .value = std::string(row.bytes(2)),
                .version = row.integer(3)};
  if (!row.is_null(4)) record.expires_at = read_time(row.integer(4));
  return record;
}

}  // namespace

Result<std::optional<Record>> RelationalTransaction::lock_record(std::string_view space,
                                                                 std::string_view name) {
  Values values;
  values.text(space).bytes(name);
  std::optional<Record> found;
  const Result<> asked = connection().query(
      "SELECT " + std::string(kColumns) + " FROM recourse_record WHERE space = ? AND name = ?" +
          std::string(seat().dialect.for_update),
      values.view(), [&](const sql::Row& row) { found = read_record(row); });
  if (!asked) return fail(asked.error());
  return found;
}

Result<> RelationalTransaction::insert_record(const Record& record) {
  Values values;
  values.text(record.space).bytes(record.name).bytes(record.value).integer(record.version);
  values.time(record.expires_at);
  const auto inserted = connection().execute(
      "INSERT INTO recourse_record (space, name, value, version, expires_at)"
      " VALUES (?, ?, ?, ?, ?)",
      values.view());
  return inserted ? Result<>{} : fail(inserted.error());
}

Result<> RelationalTransaction::write_record(const Record& record) {
  Values values;
  values.bytes(record.value).integer(record.version).time(record.expires_at);
  values.text(record.space).bytes(record.name);
  const auto written = connection().execute(
      "UPDATE recourse_record SET value = ?, version = ?, expires_at = ?"
      " WHERE space = ? AND name = ?",
      values.view());
  return written ? Result<>{} : fail(written.error());
}

Result<bool> RelationalTransaction::delete_record(std::string_view space, std::string_view name) {
  Values values;
  values.text(space).bytes(name);
  const auto deleted = connection().execute(
      "DELETE FROM recourse_record WHERE space = ? AND name = ?", values.view());
  if (!deleted) return fail(deleted.error());
  return *deleted > 0;
}

Result<std::vector<Record>> RelationalTransaction::list_records(std::string_view space,
                                                                std::string_view after,
                                                                std::size_t limit) {
  Values values;
  values.text(space).bytes(after).integer(static_cast<std::int64_t>(limit));
  std::vector<Record> found;
  const Result<> asked = connection().query(
      "SELECT " + std::string(kColumns) +
          " FROM recourse_record WHERE space = ? AND name > ? ORDER BY name LIMIT ?",
      values.view(), [&](const sql::Row& row) { found.push_back(read_record(row)); });
  if (!asked) return fail(asked.error());
  return found;
}

Result<std::size_t> RelationalTransaction::delete_records_before(TimePoint time,
                                                                 std::size_t limit) {
  Values values;
  values.time(time).integer(static_cast<std::int64_t>(limit));
  std::vector<Record> old;
  const Result<> asked = connection().query(
      "SELECT " + std::string(kColumns) +
          " FROM recourse_record WHERE expires_at <= ? ORDER BY expires_at LIMIT ?" +
          std::string(seat().dialect.skip_locked),
      values.view(), [&](const sql::Row& row) { old.push_back(read_record(row)); });
  if (!asked) return fail(asked.error());
  if (old.empty()) return std::size_t{0};
  Values names;
  for (const Record& record : old) names.text(record.space).bytes(record.name);
  const auto deleted = connection().execute_many(
      "DELETE FROM recourse_record WHERE space = ? AND name = ?", 2, names.view());
  if (!deleted) return fail(deleted.error());
  return old.size();
}

}  // namespace recourse::store::relational
