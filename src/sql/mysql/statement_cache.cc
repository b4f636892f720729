#include "sql/mysql/statement_cache.h"

#include <utility>

namespace recourse::sql::mysql {

Result<MYSQL_STMT*> StatementCache::get(Wire& wire, std::string_view text) {
  if (const auto found = statements_.find(text); found != statements_.end()) {
    return found->second.get();
  }
  if (statements_.size() == kStatementsMax) statements_.clear();
  Result<StatementHandle> prepared = wire.prepare(text);
  if (!prepared) return fail(std::move(prepared).error());
  return statements_.emplace(text, std::move(*prepared)).first->second.get();
}

void StatementCache::forget(std::string_view text) {
  const auto found = statements_.find(text);
  if (found != statements_.end()) statements_.erase(found);
}

}  // namespace recourse::sql::mysql
