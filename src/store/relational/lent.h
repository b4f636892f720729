// A submit inside a transaction that the caller began on a connection of its own.
//
// The caller may keep that transaction open for long, and this must stall nobody but those who
// submit the same unique key. So nothing is locked that others may want: what is there already is
// read, as the transaction sees it, without a lock; new keys are inserted and not looked for with a
// lock first (under MariaDB's default isolation that would lock the gap between two keys); counts
// go to a stripe of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sql/connection.h"
#include "store/relational/transaction.h"
#include "store/work.h"

namespace recourse::store::relational {

struct LentWords {
  // Values account, task_id. Inserts nothing where the account is there; waits for whoever is about
  // to decide on it.
  std::string_view take_key;
  // Value account. Who has it now, by the latest commit.
  std::string_view find_holder;
};

// On `lent`, begin() is a savepoint; on an error everything is as before. Run once, never again.
Result<InsertAnswer> submit_within(sql::Connection& lent, const Dialect& dialect,
                                   const LentWords& words, std::int64_t schema,
                                   std::span<const Submission> batch);

}  // namespace recourse::store::relational
