#include "sql/mysql/lent_connection.h"

#include <array>
#include <memory>

#include "base/invariant.h"
#include "sql/mysql/binding.h"
#include "sql/mysql/errors.h"
#include "sql/mysql/result_handle.h"
#include "sql/mysql/rows.h"

namespace recourse::sql::mysql {
namespace {

constexpr unsigned int kOutOfSync = 2014;

Error error_of(unsigned int number, const char* message) {
  if (number != kOutOfSync) return translate(number, message);
  return {ErrorCode::kInvalid,
          "the lent connection has answers that were not read: read or free them first"};
}

Error error_of(MYSQL* lent) { return error_of(mysql_errno(lent), mysql_error(lent)); }

Error error_of(MYSQL* lent, MYSQL_STMT& statement) {
  const unsigned int number = mysql_stmt_errno(&statement);
  return number == 0 ? error_of(lent) : error_of(number, mysql_stmt_error(&statement));
}

// As the server told with its last answer. Without autocommit the next statement begins one.
bool is_in_transaction(MYSQL* lent) {
  unsigned int status = 0;
  if (mariadb_get_infov(lent, MARIADB_CONNECTION_SERVER_STATUS, &status) != 0) return false;
  return (status & SERVER_STATUS_IN_TRANS) != 0 || (status & SERVER_STATUS_AUTOCOMMIT) == 0;
}

Result<> check_character_sets(MYSQL* lent) {
  constexpr std::string_view kAsk =
      "SELECT @@character_set_client, @@character_set_connection, @@character_set_results";
  if (mysql_real_query(lent, kAsk.data(), kAsk.size()) != 0) return fail(error_of(lent));
  const ResultHandle result(mysql_store_result(lent));
  MYSQL_ROW row = result ? mysql_fetch_row(result.get()) : nullptr;
  if (row == nullptr) return fail(error_of(lent));
  for (unsigned int i = 0; i < mysql_num_fields(result.get()); ++i) {
    const std::string_view name = row[i] == nullptr ? "none" : row[i];
    if (name == "utf8mb4") continue;
    return fail(ErrorCode::kInvalid, "the lent connection's character set is " + std::string(name) +
                                         ", not utf8mb4: SET NAMES utf8mb4 before it is lent");
  }
  return {};
}

}  // namespace

Result<LentConnection> LentConnection::on(MYSQL* lent) {
  if (lent == nullptr) return fail(ErrorCode::kInvalid, "no connection was lent");
  LentConnection connection(lent);
  if (Result<> fits = check_character_sets(lent); !fits) return fail(std::move(fits).error());
  if (!connection.usable()) {
    return fail(ErrorCode::kInvalid,
                "the lent connection is not inside a transaction: send START TRANSACTION first");
  }
  return connection;
}

void LentConnection::rollback() {
  if (!usable()) return;
  if (run("ROLLBACK TO SAVEPOINT recourse_lent")) (void)run("RELEASE SAVEPOINT recourse_lent");
}

Result<std::int64_t> LentConnection::execute(std::string_view statement,
                                             std::span<const Value> values) {
  const Result<StatementHandle> prepared = prepare(statement);
  if (!prepared) return fail(prepared.error());
  if (Result<> executed = execute(**prepared, values); !executed) {
    return fail(std::move(executed).error());
  }
  return static_cast<std::int64_t>(mysql_stmt_affected_rows(prepared->get()));
}

Result<std::int64_t> LentConnection::execute_many(std::string_view statement, std::size_t columns,
                                                  std::span<const Value> values) {
  invariant(columns > 0 && values.size() % columns == 0, "rows are complete");
  const Result<StatementHandle> prepared = prepare(statement);
  if (!prepared) return fail(prepared.error());
  std::int64_t sum = 0;
  for (; !values.empty(); values = values.subspan(columns)) {
    if (Result<> executed = execute(**prepared, values.first(columns)); !executed) {
      return fail(std::move(executed).error());
    }
    sum += static_cast<std::int64_t>(mysql_stmt_affected_rows(prepared->get()));
  }
  return sum;
}

Result<> LentConnection::execute_later(std::string_view statement, std::size_t columns,
                                       std::span<const Value> values) {
  const Result<std::int64_t> done = execute_many(statement, columns, values);
  return done ? Result<>{} : fail(done.error());
}

Result<> LentConnection::query(std::string_view statement, std::span<const Value> values,
                               OnRow on_row) {
  const Result<StatementHandle> prepared = prepare(statement);
  if (!prepared) return fail(prepared.error());
  if (Result<> executed = execute(**prepared, values); !executed) return executed;
  if (mysql_stmt_field_count(prepared->get()) == 0) return {};
  return Rows(**prepared).each(on_row);
}

Result<> LentConnection::run(std::string_view statement) {
  if (mysql_real_query(lent_, statement.data(), statement.size()) != 0) {
    return fail(error_of(lent_));
  }
  return same_session();
}

bool LentConnection::usable() const { return same_session() && is_in_transaction(lent_); }

Result<StatementHandle> LentConnection::prepare(std::string_view statement) {
  StatementHandle prepared(mysql_stmt_init(lent_));
  invariant(prepared != nullptr, "there is memory for a statement");
  if (mysql_stmt_prepare(prepared.get(), statement.data(), statement.size()) != 0) {
    return fail(error_of(lent_, *prepared));
  }
  if (Result<> same = same_session(); !same) return fail(std::move(same).error());
  return prepared;
}

Result<> LentConnection::execute(MYSQL_STMT& statement, std::span<const Value> values) {
  if (Result<> fits = check_count(statement, values.size()); !fits) return fits;
  RowBinding(values).bind_to(statement);
  if (mysql_stmt_execute(&statement) != 0) return fail(error_of(lent_, statement));
  if (mysql_stmt_field_count(&statement) == 0) return {};
  if (mysql_stmt_store_result(&statement) != 0) return fail(error_of(lent_, statement));
  return {};
}

Result<> LentConnection::same_session() const {
  if (mysql_thread_id(lent_) == session_) return {};
  return fail(ErrorCode::kUnavailable,
              "the lent connection was lost, and its transaction with it: begin again");
}

}  // namespace recourse::sql::mysql
