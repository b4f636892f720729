// Rows that a scan writes to, one by one: each is locked only for its own moment. They were free
// when they were read; one that the application has locked since costs a wait, is left for the next
// scan, and after a few of them so is all the rest.
//
// Thread safety: none.
#pragma once

#include <string>

#include "base/result.h"
#include "guard/values.h"
#include "sql/connection.h"

namespace recourse::guard {

class Sweep {
 public:
  explicit Sweep(sql::Connection& connection) : connection_(connection) {}

  // Whether the row was written to.
  Result<bool> write(const std::string& statement, const Values& values) {
    if (locked_ == kLockedMax) return false;
    const auto written = connection_.execute(statement, values.view());
    if (written) return *written > 0;
    if (written.error().code != ErrorCode::kExhausted) return fail(written.error());
    ++locked_;
    return false;
  }

 private:
  static constexpr int kLockedMax = 3;

  sql::Connection& connection_;
  int locked_ = 0;
};

}  // namespace recourse::guard
