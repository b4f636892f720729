#include "sql/postgres/lent_connection.h"

#include <charconv>
#include <string>

#include "base/invariant.h"
#include "base/text.h"
#include "sql/postgres/errors.h"
#include "sql/postgres/placeholders.h"
#include "sql/postgres/result_row.h"
#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

Result<> check_transaction(PGconn* lent) {
  switch (PQtransactionStatus(lent)) {
    case PQTRANS_INTRANS: return {};
    case PQTRANS_IDLE:
      return fail(ErrorCode::kInvalid,
                  "the lent connection is not inside a transaction: send BEGIN first");
    case PQTRANS_INERROR:
      return fail(ErrorCode::kInvalid,
                  "the transaction of the lent connection has failed already: roll it back, and "
                  "begin again");
    case PQTRANS_ACTIVE:
      return fail(ErrorCode::kInvalid,
                  "the lent connection is in the middle of a statement: read its results first");
    case PQTRANS_UNKNOWN: break;
  }
  return fail(ErrorCode::kUnavailable, "the lent connection is lost: open another");
}

Result<> check_encoding(PGconn* lent, const char* which) {
  const char* encoding = PQparameterStatus(lent, which);
  if (encoding != nullptr && std::string_view(encoding) == "UTF8") return {};
  return fail(ErrorCode::kInvalid, std::string("the lent connection's ") + which + " is " +
                                       (encoding == nullptr ? "unknown" : encoding) +
                                       ", not UTF8: set client_encoding to UTF8, on a database "
                                       "created with ENCODING 'UTF8'");
}

Result<ResultHandle> checked(PGconn* lent, PGresult* raw) {
  ResultHandle result(raw);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return result;
  // What has no code of the server was made up by libpq.
  if (result && !sqlstate_of(result.get()).empty()) return fail(error_of(result.get()));
  const std::string_view text = PQerrorMessage(lent);
  return fail(ErrorCode::kUnavailable,
              "lost the lent connection to PostgreSQL: " +
                  clean_text(text.substr(0, text.find('\n')), kErrorCharactersMax / 2));
}

}  // namespace

Result<LentConnection> LentConnection::on(PGconn* lent) {
  if (lent == nullptr) return fail(ErrorCode::kInvalid, "no connection was lent");
  if (PQpipelineStatus(lent) != PQ_PIPELINE_OFF) {
    return fail(ErrorCode::kInvalid,
                "the lent connection is in pipeline mode: leave it with PQexitPipelineMode first");
  }
  if (Result<> open = check_transaction(lent); !open) return fail(std::move(open).error());
  for (const char* which : {"client_encoding", "server_encoding"}) {
    if (Result<> fits = check_encoding(lent, which); !fits) return fail(std::move(fits).error());
  }
  return LentConnection(lent);
}

void LentConnection::rollback() {
  if (run("ROLLBACK TO SAVEPOINT recourse_lent")) (void)run("RELEASE SAVEPOINT recourse_lent");
}

Result<std::int64_t> LentConnection::execute(std::string_view statement,
                                             std::span<const Value> values) {
  const Result<ResultHandle> result = send(statement, values);
  if (!result) return fail(result.error());
  const std::string_view text = PQcmdTuples(result->get());
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

Result<std::int64_t> LentConnection::execute_many(std::string_view statement, std::size_t columns,
                                                  std::span<const Value> values) {
  invariant(columns > 0 && values.size() % columns == 0, "rows are complete");
  std::int64_t sum = 0;
  for (; !values.empty(); values = values.subspan(columns)) {
    const Result<std::int64_t> rows = execute(statement, values.first(columns));
    if (!rows) return rows;
    sum += *rows;
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
  const Result<ResultHandle> result = send(statement, values);
  if (!result) return fail(result.error());
  const int rows = PQntuples(result->get());
  for (int row = 0; row < rows; ++row) on_row(ResultRow(result->get(), row));
  return {};
}

Result<> LentConnection::run(std::string_view statement) {
  const auto result = checked(lent_, PQexec(lent_, std::string(statement).c_str()));
  return result ? Result<>{} : fail(result.error());
}

bool LentConnection::usable() const { return PQtransactionStatus(lent_) == PQTRANS_INTRANS; }

Result<ResultHandle> LentConnection::send(std::string_view statement,
                                          std::span<const Value> values) {
  binding_.set(values);
  const std::string text = with_numbered_placeholders(statement);
  return checked(lent_, PQexecParams(lent_, text.c_str(), binding_.count(), binding_.types().data(),
                                     binding_.pointers(), binding_.lengths(), binding_.formats(),
                                     kBinaryFormat));
}

}  // namespace recourse::sql::postgres
