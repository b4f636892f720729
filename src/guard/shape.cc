#include "guard/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/field_checks.h"
#include "base/stable_hash.h"
#include "base/text.h"
#include "guard/values_of.h"

namespace recourse::guard {
namespace {

// In the order of kGuardColumns.
constexpr std::array kMembers{&Shape::err_status,    &Shape::start_time,   &Shape::retry_count,
                              &Shape::next_retry,    &Shape::min_interval, &Shape::timeout,
                              &Shape::manual_status, &Shape::next_remind,  &Shape::notify_count};
static_assert(kMembers.size() == kGuardColumns.size());

// What is set to NULL at some time.
bool must_take_null(std::string_view name) {
  return name == "err_next_retry_time" || name == "err_next_remind_staff_time" ||
         name == "err_submit_manual_status";
}

const Column* find_own(const Layout& layout, const Dialect& dialect, std::string_view name) {
  const auto found = std::ranges::find_if(
      layout.columns, [&](const Column& column) { return dialect.same_name(column.name, name); });
  return found == layout.columns.end() ? nullptr : &*found;
}

bool fits(const Dialect& dialect, const GuardColumn& wanted, const Column& column) {
  if (wanted.sort == GuardColumnSort::kTime) return dialect.holds_time(column);
  return column.sort == ColumnSort::kNumber || column.sort == ColumnSort::kEither;
}

std::string names_of(const Layout& layout) {
  std::string names;
  for (const Column& column : layout.columns) names += (names.empty() ? "" : ", ") + column.name;
  return clean_text(names, 300);
}

Column check_field(FieldChecks& checks, const Layout& layout, const Dialect& dialect,
                   std::string_view field, const std::string& name) {
  const Column* column = find_column(layout, name);
  checks.require(column != nullptr, field,
                 fmt::format("must name a column of {} exactly, not {}; it has {}", layout.table,
                             shown(name), names_of(layout)));
  if (column == nullptr) return {};
  checks.require(dialect.can_find_by(*column), field,
                 fmt::format("must name a column of whole numbers or text, and {} is {}",
                             column->name, column->type));
  return *column;
}

// A write-back names one row. Rows that share an id would be run as one, and all be written.
void check_unique(FieldChecks& checks, const Layout& layout, const Dialect& dialect,
                  const Column& id) {
  const bool is_unique = std::ranges::any_of(layout.indexes, [&](const Index& index) {
    return index.is_usable && index.is_unique && index.columns.size() == 1 &&
           dialect.same_name(index.columns.front(), id.name);
  });
  checks.require(is_unique, "id_field",
                 fmt::format("must name a column in which no two rows of {} have the same: make {} "
                             "its primary key, or give it a unique index",
                             layout.table, id.name));
}

void check_own(FieldChecks& checks, const Dialect& dialect, const GuardColumn& wanted,
               const Column& column) {
  checks
      .require(
          fits(dialect, wanted, column), column.name,
          fmt::format("must be a column of {}, not {}: change its type",
                      wanted.sort == GuardColumnSort::kTime ? "date and time" : "whole numbers",
                      column.type))
      .require(column.takes_null || !must_take_null(wanted.name), column.name,
               "must take NULL: drop its NOT NULL");
}

void check_values(FieldChecks& checks, const Column& status, const GuardSettings& settings) {
  const auto check = [&](std::string_view field, const std::string& value) {
    checks.require(
        value_of(status, value).has_value(), field,
        fmt::format("must be a whole number, because {} is {}", status.name, status.type));
  };
  check("success_value", settings.success_value);
  check("fail_value", settings.fail_value);
}

std::string index_name(const std::string& table, std::string_view what) {
  constexpr std::size_t kTableMax = 40;
  if (table.size() <= kTableMax) return fmt::format("{}_err_{}", table, what);
  // Cut names could be the same; index names are of the whole database in two of the three. The
  // last bytes of the hash are those that one more letter changes.
  const Hash128 hash = stable_hash(table);
  return fmt::format("{}_{:02x}{:02x}{:02x}{:02x}_err_{}", table.substr(0, kTableMax), hash[0],
                     hash[1], hash[2], hash[3], what);
}

bool serves(const Index& index, const WantedIndex& wanted, const Dialect& dialect) {
  return index.is_usable && index.columns.size() >= wanted.parts.size() &&
         std::equal(wanted.parts.begin(), wanted.parts.end(), index.columns.begin(),
                    [&](const WantedIndex::Part& one, const std::string& other) {
                      return dialect.same_name(one.column, other);
                    });
}

void add_index(std::vector<Change>& changes, const Layout& layout, const Dialect& dialect,
               const WantedIndex& wanted) {
  bool leftover = false;
  for (const Index& index : layout.indexes) {
    if (serves(index, wanted, dialect)) return;
    const bool has_its_name = dialect.same_name(index.name, wanted.name);
    if (has_its_name && index.is_being_built) return;
    leftover = leftover || has_its_name;
  }
  for (Change& change : dialect.add_index(layout.table, wanted, leftover))
    changes.push_back(std::move(change));
}

}  // namespace

Result<Shape> shape_of(const Layout& layout, const Dialect& dialect,
                       const GuardSettings& settings) {
  FieldChecks checks("guard");
  Shape shape;
  shape.table = layout.table;
  shape.all = layout.columns;
  shape.id = check_field(checks, layout, dialect, "id_field", settings.id_field);
  if (!shape.id.name.empty()) check_unique(checks, layout, dialect, shape.id);
  shape.status = check_field(checks, layout, dialect, "status_field", settings.status_field);
  if (!settings.user_field.empty())
    shape.user = check_field(checks, layout, dialect, "user_field", settings.user_field);
  for (std::size_t i = 0; i < kGuardColumns.size(); ++i) {
    const GuardColumn& wanted = kGuardColumns[i];
    const Column* column = find_own(layout, dialect, wanted.name);
    if (column == nullptr) {
      shape.missing.push_back(&wanted);
      shape.*kMembers[i] = dialect.added(wanted);
    } else {
      check_own(checks, dialect, wanted, *column);
      shape.*kMembers[i] = *column;
    }
  }
  check_values(checks, shape.status, settings);
  if (Result<> fitting = checks.result(); !fitting) return fail(fitting.error());
  return shape;
}

std::vector<Change> changes_for(const Layout& layout, const Dialect& dialect,
                                const GuardSettings& settings) {
  std::vector<const GuardColumn*> missing;
  for (const GuardColumn& column : kGuardColumns) {
    if (find_own(layout, dialect, column.name) == nullptr) missing.push_back(&column);
  }
  std::vector<Change> changes;
  if (!missing.empty()) changes = dialect.add_columns(layout.table, missing);
  const auto add = [&](std::string_view what, std::vector<WantedIndex::Part> parts) {
    add_index(changes, layout, dialect,
              {.name = index_name(layout.table, what), .parts = std::move(parts)});
  };
  const auto by_status = [&](const char* time) {
    std::vector<WantedIndex::Part> parts{{"err_status"}};
    const Column* status = find_column(layout, settings.status_field);
    if (dialect.reads_rows_dearly() && status != nullptr)
      parts.push_back({status->name, status->index_prefix});
    parts.push_back({time});
    return parts;
  };
  add("retry", by_status("err_next_retry_time"));
  add("remind", by_status("err_next_remind_staff_time"));
  add("start", {{"err_status"}, {"err_start_time"}, {"err_timeout"}});
  // At every business entry somebody asks what of this user's is stuck. Last: of two indexes that
  // cost it the same PostgreSQL takes the older one, and this one would have a scan read more.
  if (const Column* user = find_column(layout, settings.user_field))
    add("user", {{user->name, user->index_prefix}, {"err_status"}});
  return changes;
}

}  // namespace recourse::guard
