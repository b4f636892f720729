// What the three databases say differently of a guarded table. Everything else is written once.
//
// Thread safety: no state of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "base/time.h"
#include "guard/columns.h"
#include "guard/layout.h"
#include "sql/connection.h"

namespace recourse::guard {

struct WantedIndex {
  struct Part {
    std::string column;
    int prefix = 0;  // of a text that is too long; 0: all of it
  };
  std::string name;
  std::vector<Part> parts;
};

// One statement that changes the table.
struct Change {
  enum class Sort : std::uint8_t { kColumns, kComment, kIndex };
  Sort sort;
  std::string statement;
};

// Work on a second connection to the same database, while the first has its own.
using Beside = FunctionRef<Result<>(FunctionRef<Result<>(sql::Connection&)>)>;

// What a change that may take long needs besides its connection.
struct Surroundings {
  Beside beside;
  // Ends it where the server can be told to; its connection may be lost with it.
  const std::stop_token& stop;
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  // --- words ---
  [[nodiscard]] virtual std::string quoted(std::string_view name) const = 0;
  // Whether the database takes them for one.
  [[nodiscard]] virtual bool same_name(std::string_view one, std::string_view other) const = 0;
  // Whether a text can be looked up in such a column exactly: as an id, a status or a user.
  [[nodiscard]] virtual bool can_find_by(const Column& column) const = 0;
  // Whether it can be one of the guard's times.
  [[nodiscard]] virtual bool holds_time(const Column& column) const {
    return column.sort == ColumnSort::kWallTime || column.sort == ColumnSort::kInstant;
  }
  // What a column of the guard's becomes, where it is added.
  [[nodiscard]] virtual Column added(const GuardColumn& column) const = 0;
  // `?` as a value of that column.
  [[nodiscard]] virtual std::string mark(const Column& column) const = 0;
  [[nodiscard]] virtual std::string as_text(const Column& column) const = 0;
  // `2026-02-05 12:00:00`
  [[nodiscard]] virtual std::string as_time(const Column& column) const = 0;

  // --- questions ---
  virtual Result<TimePoint> now(sql::Connection& connection) const = 0;
  // The zone in which a session of the application's lives, by its name.
  virtual Result<std::string> zone(sql::Connection& connection) const = 0;
  // At the end of a SELECT: locks what it finds for as long as its transaction lasts, and leaves
  // out what somebody else has locked. Empty where the database has no such words.
  virtual Result<std::string> skip_locked(sql::Connection&) const { return std::string(); }
  // Nothing: there is no table of exactly that name.
  virtual Result<std::optional<Layout>> layout(sql::Connection& connection,
                                               const std::string& table) const = 0;

  // --- changes ---
  [[nodiscard]] virtual std::vector<Change> add_columns(
      const std::string& table, std::span<const GuardColumn* const> missing) const = 0;
  // Whether it takes long from an entry of an index to its row, so that what a scan asks of a row
  // has to stand in the index.
  [[nodiscard]] virtual bool reads_rows_dearly() const { return false; }
  // `leftover` is the name's own, from a build that was broken off or for other columns.
  [[nodiscard]] virtual std::vector<Change> add_index(const std::string& table,
                                                      const WantedIndex& index,
                                                      bool leftover) const = 0;
  // Whether this session may change the table now, and nobody else; ends with the session.
  virtual Result<bool> take_turn(sql::Connection& connection, const std::string& table) const = 0;
  // At once, where it can be: a server may be late to see that a session has ended.
  virtual void end_turn(sql::Connection&, const std::string& /*table*/) const {}
  // Whether others read and write while an index is built; where not, it is best built while nobody
  // is at work.
  [[nodiscard]] virtual bool builds_beside_others() const { return true; }
  // Tries it once. kExhausted: somebody has the table, and nobody was made to wait for long; try
  // again later.
  virtual Result<> apply(sql::Connection& connection, const Change& change,
                         const Surroundings& around) const = 0;
};

}  // namespace recourse::guard
