#include "sql/mysql/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/invariant.h"
#include "sql/mysql/binding.h"
#include "sql/mysql/errors.h"
#include "sql/mysql/rows.h"

namespace recourse::sql::mysql {

namespace {

// Room for what surrounds the values in a message.
constexpr std::size_t kMessageFrame = 1'024;

// A stored answer is given back also where the statement failed half way.
struct AnswerFreer {
  void operator()(MYSQL_STMT* statement) const noexcept { mysql_stmt_free_result(statement); }
};
using Answer = std::unique_ptr<MYSQL_STMT, AnswerFreer>;

}  // namespace

Result<> WireSession::check() const {
  if (wire_.is_lost()) return fail(ErrorCode::kUnavailable, "the database connection is lost");
  if (failure_) return fail(*failure_);
  if (wire_.is_late()) {
    return fail(ErrorCode::kUnavailable, "the deadline passed before the database was asked");
  }
  return {};
}

Settings WireSession::settings_for(std::string_view statement) const {
  // MariaDB 10.11 fails SKIP LOCKED with error 1180 where it meets a lock and the lock wait is
  // zero. It waits for no row anyway.
  const bool skips_locked = statement.find("SKIP LOCKED") != std::string_view::npos;
  return {.autocommit = !in_transaction_,
          .lock_wait_s = skips_locked ? std::max(lock_wait_s_, 1) : lock_wait_s_,
          .statement_s = kStatementMaxS};
}

Result<> WireSession::settle(const Settings& wanted) {
  if (settings_ == wanted) return {};
  Result<> sent = send(wire_, server_, wanted);
  if (sent) settings_ = wanted;
  return sent;
}

Result<> WireSession::set_lock_patience(Duration patience) {
  invariant(in_transaction_, "lock patience is part of a transaction");
  // The server counts whole seconds. Sent with the next statement, and put back in the same way.
  const auto seconds = std::chrono::round<std::chrono::seconds>(patience).count();
  lock_wait_s_ = static_cast<int>(std::clamp<std::int64_t>(seconds, 0, kLockWaitMaxS));
  return {};
}

Result<> WireSession::begin() {
  invariant(!in_transaction_, "a transaction ends before the next begins");
  if (Result<> ready = check(); !ready) return ready;
  in_transaction_ = true;
  return {};
}

Result<> WireSession::commit() {
  invariant(in_transaction_, "a transaction begins before it is committed");
  if (Result<> ready = check(); !ready) return remember(std::move(ready));
  if (is_open_) {
    if (Result<> committed = wire_.commit(); !committed) return remember(std::move(committed));
  }
  end_transaction();
  return {};
}

void WireSession::rollback() {
  if (is_open_ && usable()) wire_.rollback();
  end_transaction();
}

void WireSession::end_transaction() {
  in_transaction_ = false;
  is_open_ = false;
  failure_.reset();
  lock_wait_s_ = usual_lock_wait_s_;
}

Result<> WireSession::set_idle_limit(Duration limit) {
  invariant(!in_transaction_, "how long a transaction may stand idle is set before it begins");
  const auto seconds =
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(limit).count(), 1);
  if (idle_limit_s_ == seconds) return {};
  if (Result<> ready = check(); !ready) return ready;
  // MySQL knows only how long a connection may stand idle, in a transaction or not: one that was
  // closed between two loans is opened anew.
  Result<> sent = wire_.run(
      fmt::format("SET SESSION {} = {}",
                  server_.is_mariadb ? "idle_transaction_timeout" : "wait_timeout", seconds),
      [](MYSQL_ROW) {});
  if (sent) idle_limit_s_ = static_cast<int>(seconds);
  return sent;
}

Result<st_mysql*> WireSession::lend() {
  invariant(in_transaction_, "a connection is lent within a transaction");
  if (Result<> ready = check(); !ready) return fail(std::move(ready).error());
  if (Result<> settled = settle(settings_for("")); !settled) {
    return fail(remember(std::move(settled)).error());
  }
  is_open_ = true;
  // Gone with the transaction, should somebody or a deadlock end that.
  if (Result<> set = wire_.run("SAVEPOINT recourse_lent", [](MYSQL_ROW) {}); !set) {
    return fail(remember(std::move(set)).error());
  }
  return wire_.handle();
}

Result<> WireSession::take_back() {
  if (Result<> ready = check(); !ready) return ready;
  if (wire_.run("RELEASE SAVEPOINT recourse_lent", [](MYSQL_ROW) {})) return {};
  return remember(Result<>(
      fail(ErrorCode::kInvalid,
           "the transaction was ended on the lent handle, by a COMMIT, a ROLLBACK or a deadlock: "
           "answer its errors, and leave its end alone")));
}

Result<MYSQL_STMT*> WireSession::prepare(std::string_view statement) {
  if (Result<> ready = check(); !ready) return fail(std::move(ready).error());
  if (Result<> settled = settle(settings_for(statement)); !settled) {
    return fail(std::move(settled).error());
  }
  return statements_.get(wire_, statement);
}

Result<std::int64_t> WireSession::execute(std::string_view statement,
                                          std::span<const Value> values) {
  return remember(execute_one(statement, values));
}

Result<std::int64_t> WireSession::execute_one(std::string_view statement,
                                              std::span<const Value> values) {
  Result<MYSQL_STMT*> prepared = prepare(statement);
  if (!prepared) return fail(std::move(prepared).error());
  if (Result<std::size_t> fits = rows_that_fit(values.size(), values); !fits) {
    return fail(std::move(fits).error());
  }
  if (Result<> fits = check_count(**prepared, values.size()); !fits) return fail(fits.error());
  RowBinding(values).bind_to(**prepared);
  is_open_ = in_transaction_;
  const Answer answer(*prepared);
  if (Result<> executed = wire_.execute(**prepared); !executed) {
    return fail(std::move(executed).error());
  }
  return static_cast<std::int64_t>(mysql_stmt_affected_rows(*prepared));
}

Result<std::int64_t> WireSession::execute_many(std::string_view statement, std::size_t columns,
                                               std::span<const Value> values) {
  invariant(columns > 0 && values.size() % columns == 0, "rows are complete");
  if (server_.has_bulk && values.size() > columns) {
    return remember(execute_bulk(statement, columns, values));
  }
  return remember(execute_each(statement, columns, values));
}

Result<> WireSession::execute_later(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values) {
  const Result<std::int64_t> executed = execute_many(statement, columns, values);
  if (!executed) return fail(executed.error());
  return {};
}

Result<std::int64_t> WireSession::execute_each(std::string_view statement, std::size_t columns,
                                               std::span<const Value> values) {
  std::int64_t sum = 0;
  for (std::size_t first = 0; first < values.size(); first += columns) {
    Result<std::int64_t> rows = execute_one(statement, values.subspan(first, columns));
    if (!rows) return rows;
    sum += *rows;
  }
  return sum;
}

Result<std::int64_t> WireSession::execute_bulk(std::string_view statement, std::size_t columns,
                                               std::span<const Value> values) {
  std::optional<BulkBinding> binding = BulkBinding::of(columns, values);
  if (!binding) return execute_each(statement, columns, values);
  Result<MYSQL_STMT*> prepared = prepare(statement);
  if (!prepared) return fail(std::move(prepared).error());

  std::int64_t sum = 0;
  for (std::size_t first = 0; first < values.size() / columns;) {
    const Result<std::size_t> rows = rows_that_fit(columns, values.subspan(first * columns));
    if (!rows) return fail(rows.error());
    binding->bind_to(**prepared, first, *rows);
    is_open_ = in_transaction_;
    const Answer answer(*prepared);
    if (Result<> executed = wire_.execute(**prepared); !executed) {
      if (mysql_stmt_errno(*prepared) != kNotInBulk) return fail(std::move(executed).error());
      return execute_each(statement, columns, values);
    }
    sum += static_cast<std::int64_t>(mysql_stmt_affected_rows(*prepared));
    first += *rows;
  }
  return sum;
}

Result<std::size_t> WireSession::rows_that_fit(std::size_t columns,
                                               std::span<const Value> values) const {
  const std::size_t bytes_max = server_.message_max - std::min(kMessageFrame, server_.message_max);
  std::size_t bytes = 0;
  std::size_t rows = 0;
  for (std::size_t first = 0; first < values.size(); first += columns, ++rows) {
    bytes += message_bytes(values.subspan(first, columns));
    if (bytes > bytes_max) break;
  }
  if (rows > 0 || values.empty()) return rows;
  return fail(ErrorCode::kInvalid,
              fmt::format("a row of {} bytes does not fit into the {} bytes of the server's "
                          "max_allowed_packet",
                          bytes, server_.message_max));
}

Result<> WireSession::query(std::string_view statement, std::span<const Value> values,
                            OnRow on_row) {
  return remember(query_rows(statement, values, on_row));
}

Result<> WireSession::query_rows(std::string_view statement, std::span<const Value> values,
                                 OnRow on_row) {
  Result<MYSQL_STMT*> prepared = prepare(statement);
  if (!prepared) return fail(std::move(prepared).error());
  if (Result<std::size_t> fits = rows_that_fit(values.size(), values); !fits) {
    return fail(std::move(fits).error());
  }
  if (Result<> fits = check_count(**prepared, values.size()); !fits) return fail(fits.error());
  RowBinding(values).bind_to(**prepared);
  is_open_ = in_transaction_;
  Answer answer(*prepared);
  if (Result<> executed = wire_.execute(**prepared); !executed) {
    answer.reset();
    statements_.forget(statement);
    return executed;
  }
  if (mysql_stmt_field_count(*prepared) == 0) return {};
  return Rows(**prepared).each(on_row);
}

Result<> WireSession::run(std::string_view statement) {
  invariant(!in_transaction_, "what changes a schema is no part of a transaction");
  if (Result<> ready = check(); !ready) return ready;
  // Changing a large table may take long; only the deadline ends it.
  const Settings settings{.autocommit = true, .lock_wait_s = kLockWaitMaxS, .statement_s = 0};
  if (Result<> settled = settle(settings); !settled) return settled;
  return wire_.run(statement, [](MYSQL_ROW) {});
}

Result<std::unique_ptr<Session>> connect(const std::string& url, Deadline deadline,
                                         std::chrono::seconds lock_wait) {
  const Result<Address> address = parse_address(url);
  if (!address) return fail(address.error());
  Result<Wire> wire = Wire::open(*address, deadline);
  if (!wire) return fail(std::move(wire).error());
  Result<Server> server = ask_server(*wire);
  if (!server) return fail(std::move(server).error());
  if (Result<> prepared = prepare_session(*wire, *server); !prepared) {
    return fail(std::move(prepared).error());
  }
  return std::make_unique<WireSession>(std::move(*wire), std::move(*server), lock_wait);
}

}  // namespace recourse::sql::mysql
