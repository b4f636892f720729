// Submitting inside a transaction of the caller's own, on PostgreSQL.
#pragma once

#include <span>

#include "base/result.h"
#include "store/work.h"

// libpq's own declaration; whoever lends a connection has its header.
typedef struct pg_conn PGconn;  // NOLINT(modernize-use-using,readability-identifier-naming)

namespace recourse::store::postgres {

// These tasks exist if, and only if, the open transaction of `lent` commits. On an error nothing of
// them is in it, and it goes on as if nobody had asked; where the database ended it, the message
// says so. Nothing is tried again, and no setting is changed.
//
// kInvalid: the request or the connection can never work so (not inside a transaction, an encoding
// other than UTF8, no schema). kConflict: somebody else was first; run the transaction again. While
// the transaction is open, only a submit of the same unique key waits for it.
Result<InsertAnswer> submit_on(PGconn* lent, std::span<const Submission> batch);

}  // namespace recourse::store::postgres
