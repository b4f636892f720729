// Every question, in SQL that all three databases understand.
#pragma once

#include "base/function_ref.h"
#include "sql/connection.h"
#include "store/reader.h"
#include "store/relational/transaction.h"

namespace recourse::store::relational {

// Lends a connection for reading, outside of any transaction.
class ReadingLine {
 public:
  virtual ~ReadingLine() = default;

  // Run again on another connection where the first was lost, until `within` is over.
  virtual Result<> read(Duration within, FunctionRef<Result<>(sql::Connection&)> work) = 0;
  // The store's clock.
  virtual Result<TimePoint> now(sql::Connection& connection) = 0;
  [[nodiscard]] virtual const Dialect& dialect() const = 0;
};

class RelationalReader final : public Reader {
 public:
  explicit RelationalReader(ReadingLine& line) : line_(line) {}

  Result<task::Task> find(task::TaskId id, Duration within) override;
  Result<TaskPage> list(const Filter& filter, std::optional<task::TaskId> after, std::size_t limit,
                        Duration within) override;
  Result<std::vector<Attempt>> attempts(task::TaskId id, Duration within) override;
  Result<std::vector<Note>> notes(task::TaskId id, Duration within) override;
  Result<AuditPage> audit(std::optional<task::TaskId> id, std::optional<std::int64_t> after,
                          std::size_t limit, Duration within) override;
  Result<Counts> counts(Duration within) override;
  Result<Backlog> backlog(const task::Kind& kind, Duration within) override;
  Result<std::vector<NodeRow>> nodes(Duration within) override;
  Result<Pauses> pauses(Duration within) override;
  Result<std::vector<Held>> held_by(const task::Owner& owner, std::optional<task::TaskId> after,
                                    std::size_t limit, Duration within) override;

 private:
  ReadingLine& line_;
};

}  // namespace recourse::store::relational
