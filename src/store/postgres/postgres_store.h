// PostgreSQL: several nodes on one database.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/opened.h"
#include "store/relational/pooled_backend.h"
#include "store/retention.h"

namespace recourse::store::postgres {

// `url` as in sql/postgres/connect.h. Brings the database to this program's schema first, one node
// at a time.
Result<std::unique_ptr<OpenedStore>> open(const std::string& url, Retention retention = {},
                                          relational::PoolSizes sizes = {});

}  // namespace recourse::store::postgres
