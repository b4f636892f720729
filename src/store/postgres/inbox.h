// Marks of messages, looked up by arrays.
#pragma once

#include "store/relational/inbox.h"

namespace recourse::store::postgres {

// On one of PostgreSQL's own connections.
Result<relational::Marks> find_marks(sql::Connection& connection, const relational::Dialect&,
                                     std::span<const MessageKey> keys);

}  // namespace recourse::store::postgres
