// Rows that a scan writes to, one by one. They were free when they were read; one that the
// application has locked since costs a wait, is left for the next scan, and after a few of them so
// is all the rest. One that the table refuses to have written, as by a trigger, is passed over too,
// and told of.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "guard/table.h"
#include "guard/values.h"
#include "sql/connection.h"

namespace recourse::guard {

class Sweep {
 public:
  explicit Sweep(sql::Connection& connection) : connection_(connection) {}

  // Whether the row was written to.
  Result<bool> write(const RowId& id, const std::string& statement, const Values& values) {
    if (locked_ == kLockedMax) return false;
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
  // The first.
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  static constexpr int kLockedMax = 3;

  sql::Connection& connection_;
  int locked_ = 0;
  std::optional<Refusal> refusal_;
};

}  // namespace recourse::guard
