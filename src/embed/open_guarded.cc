#include "embed/open_guarded.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace recourse::embed {
namespace {

constexpr std::string_view kSqliteFile = "sqlite:";

// One file by two names is one file: only one connection of a process may write it.
bool is_same_file(const std::string& one, const std::string& other) {
  if (!one.starts_with(kSqliteFile) || !other.starts_with(kSqliteFile)) return false;
  std::error_code ignored;
  const bool is_same = std::filesystem::equivalent(one.substr(kSqliteFile.size()),
                                                   other.substr(kSqliteFile.size()), ignored);
  return one == other || is_same;
}

}  // namespace

Result<std::unique_ptr<guard::GuardedTable>> open_guarded(guard::Databases& databases,
                                                          const std::string& database,
                                                          const OwnStore& own,
                                                          const guard::GuardSettings& settings,
                                                          Duration within) {
  const std::string& url = database.empty() ? own.url : database;
  if (is_same_file(url, own.url)) {
    return guard::open_table(own.opened.creates(), settings, within);
  }
  if (url == "memory:") {
    return fail(ErrorCode::kInvalid,
                "guard: a store in memory has no tables: name the database of the table (database: "
                "sqlite:FILE, postgres://... or mysql://...)");
  }
  return databases.open_table(url, settings, within);
}

}  // namespace recourse::embed
