// What SQLite does better than the common steps: there is no server to ask, so row by row costs
// nothing, and nobody else writes, so a row need not be locked before it is copied.
#pragma once

#include "base/clock.h"
#include "store/relational/transaction.h"
#include "store/sqlite/dialect.h"

namespace recourse::store::sqlite {

class SqliteTransaction final : public relational::RelationalTransaction {
 public:
  SqliteTransaction(sql::Connection& connection, const Clock& clock, Care care)
      : RelationalTransaction({.connection = connection, .dialect = kDialect, .stripe = {}}, care),
        clock_(clock) {}

  // The process's clock is the store's clock: no other process has the file.
  Result<TimePoint> now() override { return clock_.now(); }
  Result<std::vector<bool>> write_finishes(std::span<const Finish> finishes) override;
  Result<std::vector<bool>> insert_marks(std::span<const NewMark> marks) override;

 protected:
  Result<std::vector<int>> due_priorities(const task::Kind& kind) override;
  Result<> mark_claimed(const task::Claim& claim, std::span<const task::TaskId> ids,
                        std::span<const Probe> probes) override;

 private:
  Result<> mark_probed(const task::Claim& claim, const Probe& probe);
  // Of rows that were copied to the archive: all of them, or those that were.
  Result<std::vector<bool>> move_to_archive(std::span<const Finish> finishes);
  Result<std::vector<bool>> delete_all(std::span<const Finish> finishes);
  Result<std::vector<bool>> delete_copied(std::span<const Finish> finishes);

  // As many as one statement takes, or one. kConflict: one of them is there, and none was inserted.
  Result<> insert_absent(std::span<const NewMark> marks);
  Result<> insert_each(std::span<const NewMark> marks, std::vector<bool>& fresh);

  const Clock& clock_;
};

}  // namespace recourse::store::sqlite
