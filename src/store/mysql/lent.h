// Submitting inside a transaction of the caller's own, on MariaDB and MySQL.
#pragma once

#include <span>

#include "base/result.h"
#include "store/work.h"

// libmariadb's own declaration; whoever lends a connection has its header.
typedef struct st_mysql MYSQL;  // NOLINT(modernize-use-using,readability-identifier-naming)

namespace recourse::store::mysql {

// These tasks exist if, and only if, the open transaction of `lent` commits. On an error nothing of
// them is in it, and it goes on as if nobody had asked; where the database ended it, the message
// says so. Nothing is tried again, and no setting is changed.
//
// kInvalid: the request or the connection can never work so (not inside a transaction, a character
// set other than utf8mb4, no schema). kConflict: somebody else was first; run the transaction
// again. While the transaction is open, only a submit of the same unique key waits for it.
Result<InsertAnswer> submit_on(MYSQL* lent, std::span<const Submission> batch);

}  // namespace recourse::store::mysql
