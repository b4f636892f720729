#include "guard/guest_connection.h"

#include <string>
#include <variant>

#include "base/invariant.h"

namespace recourse::guard {
namespace {

SqlValues kept(std::span<const sql::Value> values) {
  SqlValues kept;
  kept.reserve(values.size());
  for (const sql::Value& value : values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      kept.emplace_back(*number);
    } else if (const auto* text = std::get_if<sql::Text>(&value)) {
      kept.emplace_back(std::string(text->value));
    } else if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
      kept.emplace_back(SqlBytes{std::string(bytes->value)});
    } else {
      kept.emplace_back();
    }
  }
  return kept;
}

class KeptRow final : public sql::Row {
 public:
  explicit KeptRow(const SqlRow& cells) : cells_(cells) {}

  [[nodiscard]] std::size_t columns() const override { return cells_.size(); }
  [[nodiscard]] Cell cell(std::size_t column) const override {
    constexpr Cell kCells[] = {Cell::kNull, Cell::kInteger, Cell::kText, Cell::kBytes};
    return kCells[cells_.at(column).index()];
  }
  [[nodiscard]] bool is_null(std::size_t column) const override {
    return std::holds_alternative<std::monostate>(cells_.at(column));
  }
  [[nodiscard]] std::int64_t integer(std::size_t column) const override {
    const auto* number = std::get_if<std::int64_t>(&cells_.at(column));
    // A column of SQLite may hold a text where a number was meant.
    return number == nullptr ? 0 : *number;
  }
  [[nodiscard]] std::string_view bytes(std::size_t column) const override {
    const SqlValue& cell = cells_.at(column);
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    const auto* bytes = std::get_if<SqlBytes>(&cell);
    invariant(bytes != nullptr, "bytes are read from a column of texts or bytes");
    return bytes->value;
  }

 private:
  const SqlRow& cells_;
};

}  // namespace

Result<std::int64_t> GuestConnection::execute(std::string_view statement,
                                              std::span<const sql::Value> values) {
  return guest_.execute(statement, kept(values));
}

Result<std::int64_t> GuestConnection::execute_many(std::string_view statement, std::size_t columns,
                                                   std::span<const sql::Value> values) {
  std::int64_t sum = 0;
  for (; !values.empty(); values = values.subspan(columns)) {
    const auto done = execute(statement, values.first(columns));
    if (!done) return done;
    sum += *done;
  }
  return sum;
}

Result<> GuestConnection::execute_later(std::string_view statement, std::size_t columns,
                                        std::span<const sql::Value> values) {
  const auto done = execute_many(statement, columns, values);
  return done ? Result<>() : fail(done.error());
}

Result<> GuestConnection::query(std::string_view statement, std::span<const sql::Value> values,
                                sql::OnRow on_row) {
  const auto rows = guest_.query(statement, kept(values));
  if (!rows) return fail(rows.error());
  for (const SqlRow& row : *rows) on_row(KeptRow(row));
  return {};
}

Result<> GuestConnection::run(std::string_view statement) {
  const auto done = execute(statement, {});
  return done ? Result<>() : fail(done.error());
}

}  // namespace recourse::guard
