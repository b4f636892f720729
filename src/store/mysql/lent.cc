#include "store/mysql/lent.h"

#include "sql/mysql/lent_connection.h"
#include "store/mysql/schema.h"
#include "store/mysql/transaction.h"
#include "store/relational/lent.h"

namespace recourse::store::mysql {
namespace {

// What stands in the way of the insert is locked by it until the end, so that the second statement
// adds no lock; and only a locking read sees what was committed after the caller's transaction
// began, under the default isolation.
constexpr relational::LentWords kWords{
    .take_key = "INSERT IGNORE INTO recourse_unique (account, task_id) VALUES (?, ?)",
    .find_holder = "SELECT task_id FROM recourse_unique WHERE account = ? LOCK IN SHARE MODE",
};

}  // namespace

Result<InsertAnswer> submit_on(MYSQL* lent, std::span<const Submission> batch) {
  auto connection = sql::mysql::LentConnection::on(lent);
  if (!connection) return fail(std::move(connection).error());
  return relational::submit_within(*connection, kDialect, kWords,
                                   static_cast<std::int64_t>(migrations().size()), batch);
}

}  // namespace recourse::store::mysql
