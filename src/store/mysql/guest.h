// Create calls, and a caller's own statements, on MariaDB and MySQL.
#pragma once

#include <memory>
#include <string>

#include "store/guest.h"
#include "store/relational/pooled_creates.h"

namespace recourse::store::mysql {

class MysqlCreates final : public relational::PooledCreates {
 public:
  MysqlCreates(Backend& backend, const std::string& url, std::size_t guests);

 protected:
  std::unique_ptr<Guest> host(sql::Connection& connection) override;
};

// Inside of the open transaction of `lent`, which stays its owner's; see lent.h.
Result<std::unique_ptr<Guest>> guest_on(st_mysql* lent);

}  // namespace recourse::store::mysql
