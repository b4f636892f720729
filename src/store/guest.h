// A caller's own statements inside of one transaction: on a connection of ours, or of the caller's.
//
// Thread safety: none; the caller's thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recourse/sql.h"
#include "store/work.h"

// The drivers' own declarations; whoever asks for one has its header.
struct pg_conn;   // NOLINT(readability-identifier-naming)
struct st_mysql;  // NOLINT(readability-identifier-naming)

namespace recourse::store {

struct CreateHold;

enum class Mark : std::uint8_t {
  kNow,
  // May travel with the commit that comes next, and show its error only there.
  kWithCommit,
};

class Guest {
 public:
  virtual ~Guest() = default;

  // Rows inserted, deleted, or found by an update.
  virtual Result<std::int64_t> execute(std::string_view statement, const SqlValues& values) = 0;
  virtual Result<std::vector<SqlRow>> query(std::string_view statement,
                                            const SqlValues& values) = 0;
  // These tasks exist if, and only if, the transaction commits. On an error nothing of them is in
  // it.
  virtual Result<InsertAnswer> submit(std::span<const Submission> batch) = 0;

  // The connection itself, inside of the transaction, which is not the caller's to end. Valid until
  // the next call of this guest. kInvalid on another database.
  virtual Result<pg_conn*> postgres() {
    return fail(ErrorCode::kInvalid, "this store is not on PostgreSQL");
  }
  virtual Result<st_mysql*> mysql() {
    return fail(ErrorCode::kInvalid, "this store is not on MariaDB or MySQL");
  }

  // Before a commit: takes back what was lent.
  virtual Result<> settle() { return {}; }
  // Around the work of one that joins: what fails is undone, and the rest of the transaction stays
  // as it was.
  virtual Result<> set_savepoint() { return {}; }
  virtual Result<> undo_to_savepoint() { return {}; }
  // The last statement of a create. kConflict: the hold is over.
  virtual Result<> mark_created(const CreateHold& hold, std::string_view value, Mark mark) = 0;
};

}  // namespace recourse::store
