#include "sql/postgres/connection.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "sql/postgres/result_row.h"

namespace recourse::sql::postgres {
namespace {

// A rollback that comes after the deadline may take this long: it saves opening a new connection
// just when the database is busy.
constexpr Duration kRollbackGrace = std::chrono::milliseconds(250);

Result<> success_or_error(Replies replies) {
  if (replies.error) return fail(*std::move(replies.error));
  return {};
}

}  // namespace

void PostgresConnection::set_deadline(Deadline deadline) {
  pipeline_.wire().set_deadline(deadline);
}

Result<> PostgresConnection::set_lock_patience(Duration patience) {
  invariant(in_transaction_, "lock patience belongs to an open transaction");
  // 0 would mean for ever.
  const auto whole = std::max(std::chrono::ceil<std::chrono::milliseconds>(patience),
                              std::chrono::milliseconds(1));
  const std::string text = std::to_string(whole.count());
  const Value value = Text{text};
  binding_.set(std::span(&value, 1));
  return send("SELECT set_config('lock_timeout', ?, true)", Role::kAside);
}

Result<> PostgresConnection::begin() {
  invariant(!in_transaction_, "a transaction ends before the next begins");
  if (!usable()) {
    return fail(ErrorCode::kUnavailable, "the connection to PostgreSQL is lost: open another");
  }
  in_transaction_ = true;
  begin_waits_ = true;
  return {};
}

Result<> PostgresConnection::commit() {
  invariant(in_transaction_, "only an open transaction is committed");
  if (std::exchange(begin_waits_, false)) {
    in_transaction_ = false;
    return {};
  }
  Result<> sent = check_time();
  if (sent) sent = send_alone("COMMIT", Role::kAnswer);
  if (!sent) {
    rollback();
    return sent;
  }
  Replies replies = pipeline_.finish();
  if (replies.answer) {
    in_transaction_ = false;
    // A transaction that had failed before is "committed" by rolling it back.
    if (std::string_view(PQcmdStatus(replies.answer.get())) == "COMMIT") return {};
    return fail(ErrorCode::kInvalid, "a transaction was committed after one of its errors");
  }
  rollback();
  Error error = *std::move(replies.error);
  if (replies.surely_not_run) return fail(std::move(error));
  return fail(ErrorCode::kInDoubt, "COMMIT was sent, its reply is missing: " + error.message);
}

void PostgresConnection::rollback() {
  if (!std::exchange(in_transaction_, false)) return;
  if (is_lent_ && !take_back()) return;
  if (std::exchange(begin_waits_, false) || !usable()) return;
  Wire& wire = pipeline_.wire();
  const Deadline deadline = wire.deadline();
  wire.set_deadline(std::max(deadline, std::chrono::steady_clock::now() + kRollbackGrace));
  // Where something that was still on its way fails, the first ROLLBACK is skipped with the rest.
  constexpr int kTriesMax = 2;
  for (int i = 0; i < kTriesMax && usable() && !pipeline_.is_clean(); ++i) {
    if (send_alone("ROLLBACK", Role::kAside)) pipeline_.finish();
  }
  if (usable() && !pipeline_.is_clean()) wire.lose("it cannot be rolled back");
  wire.set_deadline(deadline);
}

Result<std::int64_t> PostgresConnection::execute(std::string_view statement,
                                                 std::span<const Value> values) {
  return execute_many(statement, values.size(), values);
}

Result<std::int64_t> PostgresConnection::execute_many(std::string_view statement,
                                                      std::size_t columns,
                                                      std::span<const Value> values) {
  Result<> sent = check_time();
  if (sent) sent = send_rows(statement, columns, values, Role::kAnswer);
  if (!sent) return fail(std::move(sent).error());
  Replies replies = pipeline_.finish();
  if (replies.error) return fail(*std::move(replies.error));
  return replies.affected;
}

Result<> PostgresConnection::execute_later(std::string_view statement, std::size_t columns,
                                           std::span<const Value> values) {
  Result<> sent = check_time();
  if (sent) sent = send_rows(statement, columns, values, Role::kAside);
  if (!sent || in_transaction_) return sent;
  return success_or_error(pipeline_.finish());
}

Result<> PostgresConnection::query(std::string_view statement, std::span<const Value> values,
                                   OnRow on_row) {
  binding_.set(values);
  return query_bound(statement, on_row);
}

Result<> PostgresConnection::query_with(std::string_view statement, std::span<const Param> params,
                                        OnRow on_row) {
  binding_.set(params);
  return query_bound(statement, on_row);
}

Result<> PostgresConnection::execute_later_with(std::string_view statement,
                                                std::span<const Param> params) {
  binding_.set(params);
  Result<> sent = check_time();
  if (sent) sent = send(statement, Role::kAside);
  if (!sent || in_transaction_) return sent;
  return success_or_error(pipeline_.finish());
}

Result<> PostgresConnection::run(std::string_view statement) {
  invariant(!in_transaction_, "scripts run outside of transactions");
  if (Result<> in_time = check_time(); !in_time) return in_time;
  return pipeline_.run_script(std::string(statement));
}

bool PostgresConnection::usable() const { return pipeline_.wire().usable(); }

int PostgresConnection::socket() const { return usable() ? PQsocket(pipeline_.wire().get()) : -1; }

Result<> PostgresConnection::set_idle_limit(Duration limit) {
  invariant(!in_transaction_, "how long a transaction may stand idle is set before it begins");
  if (idle_limit_ == limit) return {};
  const auto whole =
      std::max(std::chrono::ceil<std::chrono::milliseconds>(limit), std::chrono::milliseconds(1));
  Result<> sent = run("SET idle_in_transaction_session_timeout = " + std::to_string(whole.count()) +
                      "; SET statement_timeout = " + std::to_string(whole.count()));
  if (sent) idle_limit_ = limit;
  return sent;
}

Result<PGconn*> PostgresConnection::lend() {
  invariant(in_transaction_, "a connection is lent within a transaction");
  if (Result<> in_time = check_time(); !in_time) return fail(std::move(in_time).error());
  if (std::exchange(begin_waits_, false)) {
    if (Result<> sent = pipeline_.send("BEGIN", Binding(), Role::kAside); !sent) {
      return fail(std::move(sent).error());
    }
  }
  if (Replies replies = pipeline_.finish(); replies.error) return fail(*std::move(replies.error));
  PGconn* raw = pipeline_.wire().get();
  if (PQexitPipelineMode(raw) != 1 || PQsetnonblocking(raw, 0) != 0) {
    return fail(pipeline_.wire().lose());
  }
  is_lent_ = true;
  return raw;
}

Result<> PostgresConnection::take_back() {
  is_lent_ = false;
  if (!usable()) {
    return fail(ErrorCode::kUnavailable, "the connection to PostgreSQL is lost: open another");
  }
  PGconn* raw = pipeline_.wire().get();
  if (PQtransactionStatus(raw) == PQTRANS_IDLE || PQpipelineStatus(raw) != PQ_PIPELINE_OFF) {
    pipeline_.wire().lose("the transaction was ended by whoever had it");
    return fail(ErrorCode::kInvalid,
                "the transaction was ended on the lent connection: leave its BEGIN and COMMIT, and "
                "pipeline mode, alone");
  }
  if (PQsetnonblocking(raw, 1) != 0 || PQenterPipelineMode(raw) != 1) {
    return fail(pipeline_.wire().lose());
  }
  return {};
}

Result<> PostgresConnection::query_bound(std::string_view statement, OnRow on_row) {
  Result<> sent = check_time();
  if (sent) sent = send(statement, Role::kAnswer);
  if (!sent) return sent;
  const Replies replies = pipeline_.finish();
  if (replies.error) return fail(*replies.error);
  const int rows = PQntuples(replies.answer.get());
  for (int row = 0; row < rows; ++row) on_row(ResultRow(replies.answer.get(), row));
  return {};
}

// Asked before anything is sent, so that this costs no connection.
Result<> PostgresConnection::check_time() const {
  if (pipeline_.wire().has_time()) return {};
  return fail(ErrorCode::kUnavailable, "the deadline passed before PostgreSQL was asked");
}

// Sends what binding_ holds.
Result<> PostgresConnection::send(std::string_view statement, Role role) {
  if (std::exchange(begin_waits_, false)) {
    if (Result<> sent = pipeline_.send("BEGIN", Binding(), Role::kAside); !sent) return sent;
  }
  return pipeline_.send(statement, binding_, role);
}

Result<> PostgresConnection::send_alone(std::string_view statement, Role role) {
  binding_.set(std::span<const Value>());
  return send(statement, role);
}

Result<> PostgresConnection::send_rows(std::string_view statement, std::size_t columns,
                                       std::span<const Value> values, Role role) {
  if (columns == 0) return send_alone(statement, role);
  invariant(values.size() % columns == 0, "every row has a value for each column");
  for (; !values.empty(); values = values.subspan(columns)) {
    binding_.set(values.first(columns));
    if (Result<> sent = send(statement, role); !sent) return sent;
  }
  return {};
}

}  // namespace recourse::sql::postgres
