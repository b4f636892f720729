#include "cli/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

constexpr std::string_view kGap = "  ";
// Less than this of a text tells nobody anything.
constexpr std::size_t kShrunkMin = 8;

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string spaces(width - std::min(width, width_of(text)), ' ');
  return align == Align::kLeft ? text + spaces : spaces + text;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::size_t> fit_columns(std::vector<std::size_t> natural,
                                     const std::vector<Column>& columns, std::size_t width) {
  const std::size_t gaps = columns.empty() ? 0 : kGap.size() * (columns.size() - 1);
  std::size_t total = std::accumulate(natural.begin(), natural.end(), gaps);
  while (total > width) {
    std::size_t widest = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool can = columns[i].may_shrink && natural[i] > kShrunkMin;
      if (can && (widest == columns.size() || natural[i] > natural[widest])) widest = i;
    }
    if (widest == columns.size()) break;
    --natural[widest];
    --total;
  }
  return natural;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

void Table::add_texts(std::vector<std::string> texts) {
  std::vector<Cell> cells;
  for (std::string& text : texts) cells.push_back({std::move(text)});
  add(std::move(cells));
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const std::vector<Cell>& row : rows_) width = std::max(width, width_of(row[i].text));
    widths.push_back(width);
  }
  return widths;
}

Table Table::for_width(std::size_t width) const {
  Table fit = *this;
  while (true) {
    const auto widths = fit_columns(fit.natural_widths(), fit.columns_, width);
    const std::size_t gaps = kGap.size() * (widths.size() - 1);
    if (std::accumulate(widths.begin(), widths.end(), gaps) <= width) return fit;
    const auto gone = std::ranges::max_element(fit.columns_, {}, &Column::leaves);
    if (gone->leaves == 0) return fit;
    const auto place = gone - fit.columns_.begin();
    fit.columns_.erase(gone);
    for (std::vector<Cell>& row : fit.rows_) row.erase(row.begin() + place);
  }
}

std::string Table::render(std::optional<std::size_t> width, const Colors& colors) const {
  if (rows_.empty()) return {};
  const bool has_leavers =
      std::ranges::any_of(columns_, [](const Column& column) { return column.leaves > 0; });
  if (width && has_leavers) {
    Table fit = for_width(*width);
    for (Column& column : fit.columns_) column.leaves = 0;
    return fit.render(width, colors);
  }
  std::vector<std::size_t> widths = natural_widths();
  if (width) widths = fit_columns(std::move(widths), columns_, *width);
  const auto line_of = [&](const std::vector<Cell>& cells) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool last = i + 1 == columns_.size();
      std::string text = padded(cut_to(cells[i].text, widths[i]), widths[i], columns_[i].align);
      if (last) text = without_trailing_spaces(std::move(text));
      line += cells[i].style == nullptr ? text : (colors.*cells[i].style)(text);
      if (!last) line += kGap;
    }
    return without_trailing_spaces(std::move(line)) + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, &Colors::bold});
  std::string result = line_of(titles);
  for (const std::vector<Cell>& row : rows_) result += line_of(row);
  return result;
}

}  // namespace recourse::cli
