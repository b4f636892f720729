// What MariaDB and MySQL do better than the common steps.
#pragma once

#include "store/relational/transaction.h"

namespace recourse::store::mysql {

extern const relational::Dialect kDialect;

class MysqlTransaction final : public relational::RelationalTransaction {
 public:
  using RelationalTransaction::RelationalTransaction;

  // One question for all priorities, then a locking read for each that has something due.
  Result<TakenBatch> take_due(const ClaimRequest& request) override;

 private:
  // Larger first.
  Result<std::vector<int>> priorities_with_due(const task::Kind& kind, TimePoint now);
};

}  // namespace recourse::store::mysql
