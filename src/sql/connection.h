// One connection to one database. The C libraries end behind this header.
//
// Statements are written with `?` for each value and are prepared once per connection. Values are
// always bound. Errors are translated by code, never by text:
//   kInvalid      the statement or a value can never work (data error, missing right, wrong schema)
//   kConflict     the transaction lost a race (deadlock, serialisation, a key that somebody else
//                 inserted first): run the whole of it again
//   kExhausted    waited for a lock longer than lock_patience: the transaction is lost
//   kUnavailable  the connection is gone, the server is down, the disk is full or read-only, or the
//                 deadline passed; usable() says whether this connection still is
//   kInDoubt      only from commit(): it was sent, and the reply was lost
//   kCorrupt      the database says that its data is damaged
//
// Thread safety: none; one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/function_ref.h"
#include "base/result.h"
#include "base/time.h"
#include "sql/value.h"

namespace recourse::sql {

using Deadline = std::chrono::steady_clock::time_point;
using OnRow = FunctionRef<void(const Row&)>;

class Connection {
 public:
  virtual ~Connection() = default;

  // Bounds everything from here on, until it is set again: a server that does not answer costs the
  // connection, not the caller.
  virtual void set_deadline(Deadline deadline) = 0;
  // How long a statement of the open transaction may wait for another transaction's lock; back to
  // "until the deadline" at its end. A database may round it.
  virtual Result<> set_lock_patience(Duration patience) = 0;

  // Outside of a transaction: after how long the server ends one that stands idle, with its
  // connection, should this process have been frozen. Sent where it changes. A database may round
  // it.
  virtual Result<> set_idle_limit(Duration) { return {}; }
  // For whoever has to end it from another thread, by shutting it down; -1 where there is none.
  [[nodiscard]] virtual int socket() const { return -1; }

  // May be sent only with the first statement.
  virtual Result<> begin() = 0;
  virtual Result<> commit() = 0;
  // Harmless when there is nothing to roll back. Afterwards the connection is as new, or not
  // usable.
  virtual void rollback() = 0;

  // Rows that were inserted, deleted, or found by an update (changed or not).
  virtual Result<std::int64_t> execute(std::string_view statement,
                                       std::span<const Value> values) = 0;
  // The same statement for many rows of values, `columns` each, one row after the other in
  // `values`, in one go where the database can. Answers the sum.
  virtual Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                            std::span<const Value> values) = 0;
  // Like execute_many, but an error may show only with a later statement or at commit.
  virtual Result<> execute_later(std::string_view statement, std::size_t columns,
                                 std::span<const Value> values) = 0;
  virtual Result<> query(std::string_view statement, std::span<const Value> values,
                         OnRow on_row) = 0;

  // For DDL and settings: unprepared, without values, outside of a transaction; may be several
  // statements where the database takes that.
  virtual Result<> run(std::string_view statement) = 0;

  // False once it is lost: close it and open another.
  [[nodiscard]] virtual bool usable() const = 0;
};

}  // namespace recourse::sql
