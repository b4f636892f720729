#include "store/mysql/lent.h"

#include "sql/mysql/lent_connection.h"
#include "store/mysql/lent_words.h"
#include "store/mysql/schema.h"
#include "store/mysql/transaction.h"
#include "store/relational/lent.h"

namespace recourse::store::mysql {
Result<InsertAnswer> submit_on(MYSQL* lent, std::span<const Submission> batch) {
  auto connection = sql::mysql::LentConnection::on(lent);
  if (!connection) return fail(std::move(connection).error());
  return relational::submit_within(*connection, kDialect, kLentWords,
                                   static_cast<std::int64_t>(migrations().size()), batch);
}

}  // namespace recourse::store::mysql
