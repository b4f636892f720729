#include "sql/mysql/binding.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <variant>

#include "base/invariant.h"

namespace recourse::sql::mysql {

namespace {

enum_field_types type_of(const Value& value) {
  if (std::holds_alternative<std::int64_t>(value)) return MYSQL_TYPE_LONGLONG;
  if (std::holds_alternative<Text>(value)) return MYSQL_TYPE_STRING;
  if (std::holds_alternative<Bytes>(value)) return MYSQL_TYPE_BLOB;
  return MYSQL_TYPE_NULL;
}

std::string_view bytes_of(const Value& value) {
  if (const Text* text = std::get_if<Text>(&value)) return text->value;
  if (const Bytes* bytes = std::get_if<Bytes>(&value)) return bytes->value;
  return {};
}

// The library takes a null pointer for NULL, and an empty view may have one.
const char* pointer_of(std::string_view bytes) { return bytes.empty() ? "" : bytes.data(); }

// The library's binds are used both ways and so know no const; parameters are only read.
void* unconst(const void* pointer) { return const_cast<void*>(pointer); }

void set_rows(MYSQL_STMT& statement, std::size_t count) {
  const auto rows = static_cast<unsigned int>(count);
  mysql_stmt_attr_set(&statement, STMT_ATTR_ARRAY_SIZE, &rows);
}

void bind(MYSQL_STMT& statement, std::vector<MYSQL_BIND>& binds) {
  invariant(mysql_stmt_param_count(&statement) == binds.size(),
            "a statement gets as many values as it has question marks");
  invariant(mysql_stmt_bind_param(&statement, binds.data()) == 0, "values can be bound");
}

}  // namespace

Result<> check_count(MYSQL_STMT& statement, std::size_t values) {
  const std::size_t wanted = mysql_stmt_param_count(&statement);
  if (wanted == values) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("the statement has {} values, and was given {}", wanted, values));
}

std::size_t message_bytes(std::span<const Value> values) {
  // Type, indicator, and the longest prefix of a length or the number itself.
  constexpr std::size_t kPerValue = 2 + 1 + 9;
  std::size_t bytes = 0;
  for (const Value& value : values) bytes += kPerValue + bytes_of(value).size();
  return bytes;
}

RowBinding::RowBinding(std::span<const Value> values) : binds_(values.size()) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    MYSQL_BIND& bind = binds_[i];
    bind.buffer_type = type_of(values[i]);
    if (const std::int64_t* integer = std::get_if<std::int64_t>(&values[i])) {
      bind.buffer = unconst(integer);
    } else if (bind.buffer_type != MYSQL_TYPE_NULL) {
      const std::string_view bytes = bytes_of(values[i]);
      bind.buffer = unconst(pointer_of(bytes));
      bind.buffer_length = bytes.size();
    }
  }
}

void RowBinding::bind_to(MYSQL_STMT& statement) {
  set_rows(statement, 0);
  bind(statement, binds_);
}

std::optional<BulkBinding> BulkBinding::of(std::size_t columns, std::span<const Value> values) {
  BulkBinding binding;
  for (std::size_t column = 0; column < columns; ++column) {
    std::optional<Column> filled = column_of(column, columns, values);
    if (!filled) return std::nullopt;
    binding.columns_.push_back(std::move(*filled));
  }
  return binding;
}

std::optional<BulkBinding::Column> BulkBinding::column_of(std::size_t column, std::size_t columns,
                                                          std::span<const Value> values) {
  Column filled;
  const std::size_t rows = values.size() / columns;
  filled.indicators.assign(rows, STMT_INDICATOR_NULL);
  for (std::size_t row = 0; row < rows; ++row) {
    const Value& value = values[row * columns + column];
    const enum_field_types type = type_of(value);
    if (type == MYSQL_TYPE_NULL) continue;
    if (filled.type == MYSQL_TYPE_NULL) {
      filled.type = type;
      if (type == MYSQL_TYPE_LONGLONG) filled.integers.resize(rows);
      if (type != MYSQL_TYPE_LONGLONG) filled.texts.resize(rows, "");
      if (type != MYSQL_TYPE_LONGLONG) filled.lengths.resize(rows);
    }
    if (filled.type != type) return std::nullopt;
    filled.indicators[row] = STMT_INDICATOR_NONE;
    if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) {
      filled.integers[row] = *integer;
    } else {
      filled.texts[row] = pointer_of(bytes_of(value));
      filled.lengths[row] = bytes_of(value).size();
    }
  }
  // A column of nothing but NULL still has to be of a type; no length or pointer is read then.
  if (filled.type == MYSQL_TYPE_NULL) {
    filled.type = MYSQL_TYPE_STRING;
    filled.texts.resize(rows, "");
    filled.lengths.resize(rows);
  }
  return filled;
}

void BulkBinding::bind_to(MYSQL_STMT& statement, std::size_t first, std::size_t count) {
  std::vector<MYSQL_BIND> binds(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    binds[i].buffer_type = column.type;
    binds[i].u.indicator = column.indicators.data() + first;
    if (column.type == MYSQL_TYPE_LONGLONG) {
      binds[i].buffer = column.integers.data() + first;
    } else {
      binds[i].buffer = column.texts.data() + first;
      binds[i].length = column.lengths.data() + first;
    }
  }
  set_rows(statement, count);
  bind(statement, binds);
}

}  // namespace recourse::sql::mysql
