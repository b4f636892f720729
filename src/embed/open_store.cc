#include "embed/open_store.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "store/memory/memory_store.h"
#include "store/mysql/mysql_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace recourse::embed {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

template <class T>
Result<NamedStore> named(Result<T> opened, bool exclusive) {
  if (!opened) return fail(std::move(opened).error());
  return NamedStore{.opened = *std::move(opened), .exclusive = exclusive};
}

}  // namespace

Result<NamedStore> open_store(const std::string& url, const Clock& clock, Log& log,
                              std::size_t connections, store::Retention retention) {
  const store::relational::PoolSizes sizes{.work = connections, .reading = 2};
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size()) {
    return named(store::sqlite::open(url.substr(kSqlite.size()), clock, std::move(retention)),
                 true);
  }
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
    return named(store::postgres::open(url, std::move(retention), sizes), false);
  }
  if (url.starts_with("mysql://") || url.starts_with("mariadb://")) {
    return named(store::mysql::open(url, log, std::move(retention), sizes), false);
  }
  if (url == "memory:") {
    return NamedStore{
        .opened = store::memory::open(store::memory::make_data(), clock, std::move(retention)),
        .exclusive = true};
  }
  // Not the URL itself: it may hold a password.
  return fail(
      ErrorCode::kInvalid,
      "store must be sqlite:FILE, postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE "
      "or memory:");
}

}  // namespace recourse::embed
