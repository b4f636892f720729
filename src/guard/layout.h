// A table as its database's catalog has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recourse::guard {

enum class ColumnSort : std::uint8_t {
  kNumber,    // whole numbers
  kText,      // bound and compared as text
  kEither,    // whatever a row has: SQLite knows such columns
  kWallTime,  // a time as the clock on the wall shows it
  kInstant,   // a time with a zone: our sessions bind and read it in UTC
  kBytes,
  kOther,
};

struct Column {
  std::string name;
  std::string type;  // the database's own word for it
  ColumnSort sort = ColumnSort::kOther;
  bool takes_null = true;
  std::string comment = {};
  // How many characters of it an index can hold; 0: all.
  int index_prefix = 0;
};

struct Index {
  std::string name;
  std::vector<std::string> columns;
  // False: what a build that was broken off has left.
  bool is_usable = true;
  // It will be by itself: somebody is at it.
  bool is_being_built = false;
  // No two rows have the same in all its columns.
  bool is_unique = false;
};

struct Layout {
  std::string table;
  std::vector<Column> columns;
  std::vector<Index> indexes;
};

// Nothing where it has none of exactly that name.
const Column* find_column(const Layout& layout, std::string_view name);

}  // namespace recourse::guard
