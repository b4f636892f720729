// Marks of messages on a database, where looking up takes no transaction.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sql/connection.h"
#include "store/relational/reader.h"
#include "store/transactional_inbox.h"

namespace recourse::store::relational {

using Marks = std::vector<std::optional<Seen>>;

// What was found, in any order; rows are a key and a task.
class FoundMarks {
 public:
  void add(const sql::Row& row);
  [[nodiscard]] Marks in_order_of(std::span<const MessageKey> keys) const;

 private:
  std::unordered_map<MessageKey, Seen> found_;
};

Result<Marks> find_marks(sql::Connection& connection, const Dialect& dialect,
                         std::span<const MessageKey> keys);

class RelationalInbox : public TransactionalInbox {
 public:
  // How a database finds them.
  using Finder = Result<Marks> (*)(sql::Connection&, const Dialect&, std::span<const MessageKey>);

  RelationalInbox(Backend& backend, ReadingLine& line, Retention retention,
                  Finder finder = &find_marks)
      : TransactionalInbox(backend, std::move(retention)), line_(line), finder_(finder) {}

 protected:
  Result<Marks> find(std::span<const MessageKey> keys, Duration within) override;

 private:
  ReadingLine& line_;
  Finder finder_;
};

}  // namespace recourse::store::relational
