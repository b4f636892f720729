// The embedded default: a SQLite file.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "sql/connection.h"
#include "store/opened.h"
#include "store/retention.h"
#include "store/work.h"

namespace recourse::store::sqlite {

// A caller's transaction on the one writer.
class CallersTransaction {
 public:
  virtual ~CallersTransaction() = default;

  // For the caller's own statements, on the caller's own tables. Not for begin, commit, rollback.
  [[nodiscard]] virtual sql::Connection& connection() = 0;
  // These tasks exist if, and only if, the transaction commits. Never born claimed. On an error
  // nothing of them is in it, and the transaction goes on.
  virtual Result<InsertAnswer> submit(std::span<const Submission> batch) = 0;
};

class SqliteStore : public OpenedStore {
 public:
  // Commits when `work` succeeds, and rolls back all of it otherwise; it is run once. Others wait
  // for the writer meanwhile, so the work is short; its statements are cut off when `within` is
  // over.
  virtual Result<> transact(Duration within, FunctionRef<Result<>(CallersTransaction&)> work) = 0;
};

// Creates the file where it is missing and brings it to this program's schema. The clock is the
// store's clock; it must outlive the store.
Result<std::unique_ptr<SqliteStore>> open(const std::string& path, const Clock& clock,
                                          Retention retention = {});

}  // namespace recourse::store::sqlite
