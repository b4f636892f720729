// MariaDB and MySQL: several nodes on one database. Tested on MariaDB.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "store/opened.h"
#include "store/relational/pooled_backend.h"
#include "store/retention.h"

namespace recourse::store::mysql {

// `url` as in sql/mysql/connect.h. Brings the database to this program's schema first, one node at
// a time. The log must outlive the store.
Result<std::unique_ptr<OpenedStore>> open(const std::string& url, Log& log,
                                          Retention retention = {},
                                          relational::PoolSizes sizes = {});

}  // namespace recourse::store::mysql
