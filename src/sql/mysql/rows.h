// The rows of an executed statement, one after the other.
//
// Numbers are fetched with the row. Of texts only the lengths are, and then the texts themselves
// into one buffer that is as long as this row needs: nothing is ever cut, and a column that may
// hold 256 KiB costs that only where a row does.
#pragma once

#include <mysql.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"
#include "sql/value.h"

namespace recourse::sql::mysql {

class Rows final : public Row {
 public:
  // `statement` was executed and its answer stored.
  explicit Rows(MYSQL_STMT& statement);

  Result<> each(OnRow on_row);

  [[nodiscard]] std::size_t columns() const override { return cells_.size(); }
  [[nodiscard]] Cell cell(std::size_t column) const override;
  [[nodiscard]] bool is_null(std::size_t column) const override;
  [[nodiscard]] std::int64_t integer(std::size_t column) const override;
  [[nodiscard]] std::string_view bytes(std::size_t column) const override;

 private:
  struct Field {
    bool is_integer = false;
    bool is_text = false;
    std::int64_t integer = 0;
    // Written by the library.
    unsigned long length = 0;
    my_bool is_null = 0;
    my_bool is_cut = 0;
    // Where its text begins.
    std::size_t offset = 0;
  };

  void bind();
  Result<> fetch_texts();
  [[nodiscard]] const Field& filled(std::size_t column) const;

  MYSQL_STMT& statement_;
  std::vector<Field> cells_;
  std::string texts_;
};

}  // namespace recourse::sql::mysql
