#include "guard/postgres/catalog.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "sql/identifier.h"

namespace recourse::guard::postgres {
namespace {

constexpr std::string_view kTable =
    "SELECT CAST(relname AS text) FROM pg_class"
    " WHERE oid = to_regclass(?) AND relkind IN ('r', 'p')";

// A length is left out of the type: a cast to varchar(3) would cut a value instead of not finding
// it.
constexpr std::string_view kColumns = R"sql(
  SELECT CAST(a.attname AS text), format_type(a.atttypid, NULL), a.attnotnull,
         col_description(a.attrelid, a.attnum)
    FROM pg_attribute a
   WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped
   ORDER BY a.attnum)sql";

// Who builds an index without blocking others holds that lock all the time, and leaves an index
// that is not valid where it is broken off. (A sweeper holds it too: then we only look again
// later.)
constexpr std::string_view kIndexes = R"sql(
  SELECT CAST(c.relname AS text), CAST(COALESCE(a.attname, '') AS text), i.indisvalid AND i.indisready,
         i.indisunique AND i.indpred IS NULL,
         EXISTS (SELECT FROM pg_locks l
                  WHERE l.locktype = 'relation' AND l.relation = i.indrelid
                    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid())
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
   CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
   WHERE i.indrelid = to_regclass(?) AND c.relkind IN ('i', 'I')
   ORDER BY c.relname, k.place)sql";

ColumnSort sort_of(std::string_view type) {
  constexpr std::array kNumbers{"smallint", "integer", "bigint"};
  constexpr std::array kTexts{"text", "character varying", "character"};
  if (std::ranges::find(kNumbers, type) != kNumbers.end()) return ColumnSort::kNumber;
  if (std::ranges::find(kTexts, type) != kTexts.end()) return ColumnSort::kText;
  if (type == "timestamp without time zone") return ColumnSort::kWallTime;
  if (type == "timestamp with time zone") return ColumnSort::kInstant;
  return type == "bytea" ? ColumnSort::kBytes : ColumnSort::kOther;
}

}  // namespace

Result<std::optional<Layout>> read_layout(sql::Connection& connection, const std::string& table) {
  const std::string name = sql::postgres::quoted(table);
  const sql::Value value = sql::Text{name};
  const std::span<const sql::Value> values(&value, 1);
  Layout layout;
  Result<> read =
      connection.query(kTable, values, [&](const sql::Row& row) { layout.table = row.bytes(0); });
  if (!read) return fail(read.error());
  if (layout.table != table) return std::nullopt;
  read = connection.query(kColumns, values, [&](const sql::Row& row) {
    const std::string type(row.bytes(1));
    layout.columns.push_back({.name = std::string(row.bytes(0)),
                              .type = type,
                              .sort = sort_of(type),
                              .takes_null = row.integer(2) == 0,
                              .comment = row.is_null(3) ? "" : std::string(row.bytes(3))});
  });
  if (!read) return fail(read.error());
  read = connection.query(kIndexes, values, [&](const sql::Row& row) {
    const std::string index(row.bytes(0));
    if (layout.indexes.empty() || layout.indexes.back().name != index)
      layout.indexes.push_back({.name = index,
                                .columns = {},
                                .is_usable = row.integer(2) != 0,
                                .is_being_built = row.integer(2) == 0 && row.integer(4) != 0,
                                .is_unique = row.integer(3) != 0});
    layout.indexes.back().columns.emplace_back(row.bytes(1));
  });
  if (!read) return fail(read.error());
  return layout;
}

}  // namespace recourse::guard::postgres
