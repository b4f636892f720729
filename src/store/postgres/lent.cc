#include "store/postgres/lent.h"

#include "sql/postgres/lent_connection.h"
#include "store/postgres/lent_words.h"
#include "store/postgres/schema.h"
#include "store/postgres/transaction.h"
#include "store/relational/lent.h"

namespace recourse::store::postgres {
Result<InsertAnswer> submit_on(PGconn* lent, std::span<const Submission> batch) {
  auto connection = sql::postgres::LentConnection::on(lent);
  if (!connection) return fail(std::move(connection).error());
  return relational::submit_within(*connection, kDialect, kLentWords,
                                   static_cast<std::int64_t>(migrations().size()), batch);
}

}  // namespace recourse::store::postgres
