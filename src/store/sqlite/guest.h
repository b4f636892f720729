// Create calls, and a caller's own statements, on the one writer of a SQLite file.
#pragma once

#include "store/guest.h"
#include "store/sqlite/guest_slot.h"
#include "store/sqlite/writer.h"
#include "store/transactional_creates.h"

namespace recourse::store::sqlite {

class SqliteGuest final : public Guest {
 public:
  explicit SqliteGuest(GuestSlot& slot) : slot_(slot) {}

  Result<std::int64_t> execute(std::string_view statement, const SqlValues& values) override;
  Result<std::vector<SqlRow>> query(std::string_view statement, const SqlValues& values) override;
  Result<InsertAnswer> submit(std::span<const Submission> batch) override;
  Result<> mark_created(const CreateHold& hold, std::string_view value, Mark mark) override;

  [[nodiscard]] GuestSlot& slot() { return slot_; }

 private:
  GuestSlot& slot_;
};

// Taking the key, the work and the mark are one transaction and one flush: while it is open, nobody
// else can look at the key, and where the process dies, none of it was ever there.
class SqliteCreates final : public TransactionalCreates {
 public:
  explicit SqliteCreates(Writer& writer) : TransactionalCreates(writer), writer_(writer) {}

  Result<> transact(Duration within, FunctionRef<Result<>(Guest&)> work) override;
  Result<Acquired> create(const CreateAsk& ask, Duration within, CreateWork work) override;
  // The guest has the writer: the key is taken in its transaction.
  Result<Acquired> create_within(Guest& guest, const CreateAsk& ask, Duration within,
                                 CreateWork work) override;

 private:
  Writer& writer_;
};

}  // namespace recourse::store::sqlite
