// What MariaDB and MySQL do better than the common steps.
#pragma once

#include "store/relational/transaction.h"

namespace recourse::store::mysql {

extern const relational::Dialect kDialect;

class MysqlTransaction final : public relational::RelationalTransaction {
 public:
  using RelationalTransaction::RelationalTransaction;

  // All probes in one statement, each with its own bound and lock.
  Result<TakenBatch> take_due(const ClaimRequest& request) override;
};

}  // namespace recourse::store::mysql
