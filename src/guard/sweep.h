// Rows that a scan writes to, one by one. They were free when they were read; one that the
// application has locked since costs a wait, is left for the next scan, and after a few of them so
// is all the rest. One that the table refuses to have written, as by a trigger, is passed over too,
// and told of. Where a write locks a whole file, all of them are one transaction, which begins with
// the first: most scans write nothing.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "guard/database.h"
#include "guard/table.h"
#include "guard/values.h"
#include "sql/connection.h"

namespace recourse::guard {

class Sweep {
 public:
  Sweep(sql::Connection& connection, Commits commits)
      : connection_(connection), is_together_(commits == Commits::kEachSweep) {}
  ~Sweep() {
    if (is_begun_) connection_.rollback();
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  // Whether the row was written to.
  Result<bool> write(const RowId& id, const std::string& statement, const Values& values) {
    if (locked_ == kLockedMax) return false;
    if (is_together_ && !is_begun_) {
      if (Result<> begun = connection_.begin(); !begun) return fail(begun.error());
      is_begun_ = true;
    }
    const auto written = connection_.execute(statement, values.view());
    if (written) return *written > 0;
    switch (written.error().code) {
      case ErrorCode::kExhausted: ++locked_; return false;
      case ErrorCode::kInvalid:
        if (!refusal_) refusal_ = Refusal{.row = id, .error = written.error()};
        return false;
      default: return fail(written.error());
    }
  }
  // What was not finished is undone, where it is one transaction.
  Result<> finish() { return std::exchange(is_begun_, false) ? connection_.commit() : Result<>(); }
  // The first.
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  static constexpr int kLockedMax = 3;

  sql::Connection& connection_;
  const bool is_together_;
  bool is_begun_ = false;
  int locked_ = 0;
  std::optional<Refusal> refusal_;
};

}  // namespace recourse::guard
