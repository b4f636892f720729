#include "sql/postgres/result_row.h"

#include <source_location>

#include "base/invariant.h"
#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

bool is_number(Oid type) {
  return type == kInt8Type || type == kInt4Type || type == kInt2Type || type == kBoolType;
}

bool is_text(Oid type) {
  constexpr Oid kText = 25;
  constexpr Oid kChar = 1042;
  constexpr Oid kVarchar = 1043;
  constexpr Oid kName = 19;
  constexpr Oid kJson = 114;
  return type == kText || type == kChar || type == kVarchar || type == kName || type == kJson;
}

}  // namespace

std::size_t ResultRow::columns() const { return static_cast<std::size_t>(PQnfields(result_)); }

Row::Cell ResultRow::cell(std::size_t column) const {
  if (is_null(column)) return Cell::kNull;
  const Oid type = PQftype(result_, static_cast<int>(column));
  if (is_number(type)) return Cell::kInteger;
  return is_text(type) ? Cell::kText : Cell::kBytes;
}

bool ResultRow::is_null(std::size_t column) const {
  return PQgetisnull(result_, row_, static_cast<int>(column)) != 0;
}

std::int64_t ResultRow::integer(std::size_t column) const {
  const char* from = data(column);
  switch (PQftype(result_, static_cast<int>(column))) {
    case kInt8Type: return static_cast<std::int64_t>(read_number<std::uint64_t>(from));
    case kInt4Type: return static_cast<std::int32_t>(read_number<std::uint32_t>(from));
    case kInt2Type: return static_cast<std::int16_t>(read_number<std::uint16_t>(from));
    case kBoolType: return *from != 0 ? 1 : 0;
    default: break;
  }
  invariant_broken("a number is read from a column of numbers", std::source_location::current());
}

std::string_view ResultRow::bytes(std::size_t column) const {
  const char* from = data(column);
  const int at = static_cast<int>(column);
  invariant(!is_number(PQftype(result_, at)), "bytes are read from a column of texts or bytes");
  return {from, static_cast<std::size_t>(PQgetlength(result_, row_, at))};
}

const char* ResultRow::data(std::size_t column) const {
  invariant(column < static_cast<std::size_t>(PQnfields(result_)), "the column exists");
  invariant(!is_null(column), "a NULL is asked for with is_null");
  return PQgetvalue(result_, row_, static_cast<int>(column));
}

}  // namespace recourse::sql::postgres
