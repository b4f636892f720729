#include "embed/open_guarded.h"

#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "guard/database.h"
#include "guard/late_table.h"
#include "guard/prepare.h"

namespace recourse::embed {
namespace {

constexpr std::string_view kSqliteFile = "sqlite:";

struct Patience {
  Duration open;
  Duration add;
};
// A table that others use all the time takes its time, and so do the indexes of a large file.
constexpr Patience kAtStart = {.open = std::chrono::seconds(10), .add = std::chrono::minutes(10)};
// The same on a scan's thread, which a stop waits for.
constexpr Patience kLater = {.open = std::chrono::seconds(5), .add = std::chrono::seconds(5)};

using Table = std::unique_ptr<guard::GuardedTable>;

// One file by two names is one file: only one connection of a process may write it.
bool is_same_file(const std::string& one, const std::string& other) {
  if (!one.starts_with(kSqliteFile) || !other.starts_with(kSqliteFile)) return false;
  std::error_code ignored;
  const bool is_same = std::filesystem::equivalent(one.substr(kSqliteFile.size()),
                                                   other.substr(kSqliteFile.size()), ignored);
  return one == other || is_same;
}

Result<Table> open(const Guarded& guarded, const GuardedParts& parts, Duration within) {
  // Before the database, which may be away: what is wrong with them, no scan can mend.
  if (Result<> valid = guard::validate(guard::named(guarded.settings)); !valid) {
    return fail(valid.error());
  }
  const std::string& url = guarded.database.empty() ? parts.own.url : guarded.database;
  if (is_same_file(url, parts.own.url)) {
    return guard::open_table(parts.own.opened.creates(), guarded.settings, within);
  }
  if (url == "memory:") {
    return fail(ErrorCode::kInvalid,
                "guard: a store in memory has no tables: name the database of the table (database: "
                "sqlite:FILE, postgres://... or mysql://...)");
  }
  return parts.databases->open_table(url, guarded.settings, within);
}

// The database is away or locked, or another process, such as this one's predecessor, still has its
// file.
bool may_come_right(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kExhausted;
}

Result<Table> open_whole(const Guarded& guarded, const GuardedParts& parts, Patience patience) {
  Result<Table> table = open(guarded, parts, patience.open);
  Result<> added = table ? guard::prepare(**table, patience.add, parts.log) : fail(table.error());
  if (added) return table;
  Error error = added.error();
  if (parts.in_words != nullptr) error.message = parts.in_words(std::move(error.message));
  return fail(std::move(error));
}

}  // namespace

Result<std::unique_ptr<guard::GuardedTable>> open_guarded(const Guarded& guarded,
                                                          const GuardedParts& parts) {
  Result<Table> table = open_whole(guarded, parts, kAtStart);
  if (table || !may_come_right(table.error().code)) return table;
  parts.log.error("guard_not_ready", {{"guard", guarded.settings.name},
                                      {"table", guarded.settings.table},
                                      {"error", table.error().message}});
  auto open_later = [guarded, parts] { return open_whole(guarded, parts, kLater); };
  return std::make_unique<guard::LateTable>(guard::named(guarded.settings), std::move(open_later),
                                            table.error(), parts.clock, parts.log);
}

std::string place_of_guarded(const std::string& database, const std::string& own_url) {
  return guard::place_of(database.empty() ? own_url : database);
}

}  // namespace recourse::embed
