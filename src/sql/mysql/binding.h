// Values as libmariadb wants them: one row, or many rows column by column.
//
// A binding points into the values it was made of, and must outlive the statement's execution.
#pragma once

#include <mysql.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "sql/value.h"

namespace recourse::sql::mysql {

// No fewer bytes than the values take in a message.
// kInvalid where a statement, which may be a user's, wants another number of values.
Result<> check_count(MYSQL_STMT& statement, std::size_t values);

std::size_t message_bytes(std::span<const Value> values);

class RowBinding {
 public:
  explicit RowBinding(std::span<const Value> values);

  void bind_to(MYSQL_STMT& statement);

 private:
  std::vector<MYSQL_BIND> binds_;
};

class BulkBinding {
 public:
  // Empty where a column holds values of several types, which one message cannot carry.
  static std::optional<BulkBinding> of(std::size_t columns, std::span<const Value> values);

  // Rows [first, first + count).
  void bind_to(MYSQL_STMT& statement, std::size_t first, std::size_t count);

 private:
  struct Column {
    enum_field_types type = MYSQL_TYPE_NULL;
    std::vector<std::int64_t> integers;
    std::vector<const char*> texts;
    std::vector<unsigned long> lengths;
    std::vector<char> indicators;
  };

  static std::optional<Column> column_of(std::size_t column, std::size_t columns,
                                         std::span<const Value> values);

  std::vector<Column> columns_;
};

}  // namespace recourse::sql::mysql
