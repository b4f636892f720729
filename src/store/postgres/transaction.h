// The hot steps as PostgreSQL does them best: whole batches as arrays, one statement each.
#pragma once

#include "sql/postgres/connection.h"
#include "store/postgres/low_water.h"
#include "store/relational/transaction.h"

namespace recourse::store::postgres {

extern const relational::Dialect kDialect;

class PostgresTransaction final : public relational::RelationalTransaction {
 public:
  PostgresTransaction(const relational::Seat& seat, Care care, LowWater& low_water)
      : RelationalTransaction(seat, care),
        // The backend opens no other kind.
        connection_(static_cast<sql::postgres::PostgresConnection&>(seat.connection)),
        low_water_(low_water) {}

  Result<InsertedRows> insert_tasks(std::span<const NewTask> tasks) override;
  Result<TakenBatch> take_due(const ClaimRequest& request, const Shares& shares) override;
  Result<TakenBatch> take(const ClaimRequest& request, std::span<const task::TaskId> ids) override;
  Result<std::vector<bool>> write_moves(std::span<const task::Transition* const> moves) override;
  Result<> write_rows(std::span<const task::Task> tasks) override;
  Result<std::vector<bool>> write_finishes(std::span<const Finish> finishes) override;
  Result<> add_counts(std::span<const CountChange> changes) override;
  Result<std::vector<std::optional<Seen>>> find_marks(std::span<const MessageKey> keys) override;
  Result<std::vector<bool>> insert_marks(std::span<const NewMark> marks) override;
  Result<std::size_t> delete_marks(std::span<const MessageKey> keys) override;
  Result<std::size_t> delete_marks_before(TimePoint time, std::size_t limit) override;

 protected:
  TimePoint first_look(const task::Kind& kind, int priority) override {
    return low_water_.start_of(kind, priority, LowWater::Clock::now());
  }

 private:
  sql::postgres::PostgresConnection& connection_;
  LowWater& low_water_;
};

}  // namespace recourse::store::postgres
