// What MariaDB and MySQL do better than the common steps.
#pragma once

#include "store/relational/transaction.h"

namespace recourse::store::mysql {

extern const relational::Dialect kDialect;

class MysqlTransaction final : public relational::RelationalTransaction {
 public:
  using RelationalTransaction::RelationalTransaction;

 protected:
  // Those that have something due, found by one question without a lock.
  Result<std::vector<int>> priorities_to_probe(const task::Kind& kind, TimePoint now) override;
};

}  // namespace recourse::store::mysql
