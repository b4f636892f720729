// Rows in columns.
//
// On a terminal the table is cut to its width: columns that may leave do, then the widest that may
// shrink give way, and what does not fit ends in an ellipsis. Elsewhere nothing is cut, so that a
// script sees whole ids and whole errors; the columns stay apart by at least two spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/colors.h"

namespace recourse::cli {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // Free text may be cut where there is no room. What people copy to name a thing may not: ids, and
  // names by which a command asks for it. Such a column may leave, or else the line is too long.
  bool may_shrink = false;
  // On a terminal that cannot hold all of them, the column with the highest leaves first; one with
  // zero stays.
  int leaves = 0;
};

struct Cell {
  std::string text;
  // Around the padded text, so that it does not count as width; nothing: as it is.
  std::string (Colors::*style)(std::string_view) const = nullptr;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // Missing cells are empty; cells too many are left out.
  void add(std::vector<Cell> cells);
  void add_texts(std::vector<std::string> texts);

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // With a line end after each line; nothing without rows. `width` is the terminal's; empty: no
  // terminal.
  [[nodiscard]] std::string render(std::optional<std::size_t> width, const Colors& colors) const;

 private:
  [[nodiscard]] std::vector<std::size_t> natural_widths() const;

  // Without the columns that leave.
  [[nodiscard]] Table for_width(std::size_t width) const;

  std::vector<Column> columns_;
  // Printable text only.
  std::vector<std::vector<Cell>> rows_;
};

// How wide each column may be, so that all fit into `width` with two spaces between them. Columns
// that may not shrink keep theirs, whatever the width.
std::vector<std::size_t> fit_columns(std::vector<std::size_t> natural,
                                     const std::vector<Column>& columns, std::size_t width);

}  // namespace recourse::cli
