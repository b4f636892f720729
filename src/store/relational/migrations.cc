#include "store/relational/migrations.h"

#include <fmt/format.h>

#include <array>

namespace recourse::store::relational {
namespace {

Result<std::int64_t> schema_of(sql::Connection& connection) {
  std::int64_t version = 0;
  const Result<> asked =
      connection.query("SELECT value FROM recourse_meta WHERE name = 'schema'", {},
                       [&](const sql::Row& row) { version = row.integer(0); });
  if (!asked) return fail(asked.error());
  return version;
}

Result<> note_schema(sql::Connection& connection, std::int64_t version) {
  const std::array values{sql::Value(version)};
  if (Result<> begun = connection.begin(); !begun) return begun;
  const auto updated =
      connection.execute("UPDATE recourse_meta SET value = ? WHERE name = 'schema'", values);
  if (!updated) return fail(updated.error());
  if (*updated == 0) {
    const auto inserted =
        connection.execute("INSERT INTO recourse_meta (name, value) VALUES ('schema', ?)", values);
    if (!inserted) return fail(inserted.error());
  }
  return connection.commit();
}

}  // namespace

Result<> migrate(sql::Connection& connection, std::string_view create_meta,
                 std::span<const Migration> migrations) {
  // Looked at first: where everything is there, no right to create is needed.
  Result<std::int64_t> found = schema_of(connection);
  if (!found && found.error().code == ErrorCode::kInvalid) {
    if (Result<> made = connection.run(create_meta); !made) return made;
    found = schema_of(connection);
  }
  if (!found) return fail(found.error());
  const auto known = static_cast<std::int64_t>(migrations.size());
  if (*found > known) {
    return fail(ErrorCode::kInvalid,
                fmt::format("this database has schema {}, and this program knows schemas up to {}: "
                            "start a program that is at least as new as the one that wrote it",
                            *found, known));
  }
  for (std::int64_t next = *found; next < known; ++next) {
    for (const std::string_view step : migrations[static_cast<std::size_t>(next)].steps) {
      if (Result<> done = connection.run(step); !done) return done;
    }
    if (Result<> noted = note_schema(connection, next + 1); !noted) return noted;
  }
  return {};
}

}  // namespace recourse::store::relational
