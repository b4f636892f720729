#include "guard/mysql/catalog.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace recourse::guard::mysql {
namespace {

// The catalog compares names in any case; exactly that one is picked below.
constexpr std::string_view kTable =
    "SELECT table_name FROM information_schema.tables"
    " WHERE table_schema = DATABASE() AND table_name = ? AND table_type = 'BASE TABLE'";
constexpr std::string_view kColumns =
    "SELECT column_name, data_type, is_nullable, column_comment, table_name,"
    " CAST(COALESCE(character_maximum_length, 0) AS SIGNED)"
    " FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?"
    " ORDER BY ordinal_position";
constexpr std::string_view kIndexes =
    "SELECT index_name, column_name, table_name, CAST(non_unique AS SIGNED)"
    " FROM information_schema.statistics"
    " WHERE table_schema = DATABASE() AND table_name = ? ORDER BY index_name, seq_in_index";

// An index entry has room for 3,072 bytes in all.
constexpr std::int64_t kIndexedWhole = 255;
constexpr int kIndexPrefix = 64;

ColumnSort sort_of(std::string_view type) {
  constexpr std::array kNumbers{"tinyint", "smallint", "mediumint", "int", "bigint"};
  constexpr std::array kTexts{"char",       "varchar",  "tinytext", "text",
                              "mediumtext", "longtext", "enum",     "uuid"};
  constexpr std::array kBytes{"binary",     "varbinary", "tinyblob", "blob",
                              "mediumblob", "longblob",  "bit"};
  if (std::ranges::find(kNumbers, type) != kNumbers.end()) return ColumnSort::kNumber;
  if (std::ranges::find(kTexts, type) != kTexts.end()) return ColumnSort::kText;
  if (std::ranges::find(kBytes, type) != kBytes.end()) return ColumnSort::kBytes;
  if (type == "datetime") return ColumnSort::kWallTime;
  return type == "timestamp" ? ColumnSort::kInstant : ColumnSort::kOther;
}

std::string text_of(const sql::Row& row, std::size_t column) {
  return row.is_null(column) ? "" : std::string(row.bytes(column));
}

}  // namespace

Result<std::optional<Layout>> read_layout(sql::Connection& connection, const std::string& table) {
  const sql::Value value = sql::Text{table};
  const std::span<const sql::Value> values(&value, 1);
  Layout layout;
  Result<> read = connection.query(kTable, values, [&](const sql::Row& row) {
    if (text_of(row, 0) == table) layout.table = table;
  });
  if (!read) return fail(read.error());
  if (layout.table.empty()) return std::nullopt;
  read = connection.query(kColumns, values, [&](const sql::Row& row) {
    if (text_of(row, 4) != table) return;
    const std::string type = text_of(row, 1);
    layout.columns.push_back({.name = text_of(row, 0),
                              .type = type,
                              .sort = sort_of(type),
                              .takes_null = text_of(row, 2) == "YES",
                              .comment = text_of(row, 3),
                              .index_prefix = row.integer(5) > kIndexedWhole ? kIndexPrefix : 0});
  });
  if (!read) return fail(read.error());
  read = connection.query(kIndexes, values, [&](const sql::Row& row) {
    if (text_of(row, 2) != table) return;
    const std::string index = text_of(row, 0);
    if (layout.indexes.empty() || layout.indexes.back().name != index)
      layout.indexes.push_back({.name = index, .columns = {}, .is_unique = row.integer(3) == 0});
    layout.indexes.back().columns.push_back(text_of(row, 1));
  });
  if (!read) return fail(read.error());
  return layout;
}

}  // namespace recourse::guard::mysql
