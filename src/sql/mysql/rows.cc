#include "sql/mysql/rows.h"

#include <algorithm>

#include "base/invariant.h"
#include "sql/mysql/errors.h"

namespace recourse::sql::mysql {

namespace {

bool holds_integers(const MYSQL_FIELD& field) {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR: return true;
    case MYSQL_TYPE_NEWDECIMAL: return field.decimals == 0;  // what SUM of integers answers
    default: return false;
  }
}

// Numbers and times come as texts of that character set too.
bool is_blob(const MYSQL_FIELD& field) {
  switch (field.type) {
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_BIT: return true;
    default: return false;
  }
}

}  // namespace

Rows::Rows(MYSQL_STMT& statement)
    : statement_(statement), cells_(mysql_stmt_field_count(&statement)) {
  invariant(!cells_.empty(), "a query answers with columns");
  const MYSQL_FIELD* fields = mariadb_stmt_fetch_fields(&statement);
  // What the server calls text has a character set; bytes have that of the number 63.
  constexpr unsigned int kBinary = 63;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].is_integer = holds_integers(fields[i]);
    cells_[i].is_text = fields[i].charsetnr != kBinary || !is_blob(fields[i]);
  }
}

Row::Cell Rows::cell(std::size_t column) const {
  invariant(column < cells_.size(), "the column exists");
  const Field& field = cells_[column];
  if (field.is_null != 0) return Cell::kNull;
  if (field.is_integer) return Cell::kInteger;
  return field.is_text ? Cell::kText : Cell::kBytes;
}

void Rows::bind() {
  std::vector<MYSQL_BIND> binds(cells_.size());
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    binds[i].buffer_type = cells_[i].is_integer ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_BLOB;
    binds[i].buffer = cells_[i].is_integer ? &cells_[i].integer : nullptr;
    binds[i].length = &cells_[i].length;
    binds[i].is_null = &cells_[i].is_null;
    binds[i].error = &cells_[i].is_cut;
  }
  invariant(mysql_stmt_bind_result(&statement_, binds.data()) == 0, "columns can be bound");
}

Result<> Rows::each(OnRow on_row) {
  bind();
  for (;;) {
    const int fetched = mysql_stmt_fetch(&statement_);
    if (fetched == MYSQL_NO_DATA) return {};
    // Lengths come first and texts afterwards, which a handle may report as cut.
    if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED) {
      return fail(translate(mysql_stmt_errno(&statement_), mysql_stmt_error(&statement_)));
    }
    if (Result<> texts = fetch_texts(); !texts) return texts;
    on_row(*this);
  }
}

Result<> Rows::fetch_texts() {
  std::size_t size = 0;
  for (Field& cell : cells_) {
    if (cell.is_null != 0) continue;
    if (cell.is_integer && cell.is_cut != 0) {
      return fail(ErrorCode::kInvalid, "the database answered a number beyond 64 bits");
    }
    if (cell.is_integer) continue;
    cell.offset = size;
    size += cell.length;
  }
  texts_.resize(size);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Field& cell = cells_[i];
    if (cell.is_integer || cell.is_null != 0 || cell.length == 0) continue;
    MYSQL_BIND bind{};
    bind.buffer_type = MYSQL_TYPE_BLOB;
    bind.buffer = texts_.data() + cell.offset;
    bind.buffer_length = cell.length;
    invariant(mysql_stmt_fetch_column(&statement_, &bind, static_cast<unsigned int>(i), 0) == 0,
              "a fetched row has its columns");
  }
  return {};
}

const Rows::Field& Rows::filled(std::size_t column) const {
  invariant(column < cells_.size(), "a column that was asked for is read");
  invariant(cells_[column].is_null == 0, "is_null is asked before a value");
  return cells_[column];
}

bool Rows::is_null(std::size_t column) const {
  invariant(column < cells_.size(), "a column that was asked for is read");
  return cells_[column].is_null != 0;
}

std::int64_t Rows::integer(std::size_t column) const {
  const Field& cell = filled(column);
  invariant(cell.is_integer, "a number is read from a column of numbers");
  return cell.integer;
}

std::string_view Rows::bytes(std::size_t column) const {
  const Field& cell = filled(column);
  invariant(!cell.is_integer, "bytes are read from a column of text or bytes");
  return std::string_view(texts_).substr(cell.offset, cell.length);
}

}  // namespace recourse::sql::mysql
