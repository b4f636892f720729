// A row of a result in binary format.
#pragma once

#include <libpq-fe.h>

#include "sql/value.h"

namespace recourse::sql::postgres {

class ResultRow final : public Row {
 public:
  ResultRow(const PGresult* result, int row) : result_(result), row_(row) {}

  [[nodiscard]] std::size_t columns() const override;
  // What is neither a number nor a text nor bytes comes as the bytes of its binary format.
  [[nodiscard]] Cell cell(std::size_t column) const override;
  [[nodiscard]] bool is_null(std::size_t column) const override;
  [[nodiscard]] std::int64_t integer(std::size_t column) const override;
  [[nodiscard]] std::string_view bytes(std::size_t column) const override;

 private:
  [[nodiscard]] const char* data(std::size_t column) const;

  const PGresult* result_;
  int row_;
};

}  // namespace recourse::sql::postgres
