#include "tests/support/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>

#include "base/invariant.h"
#include "sql/postgres/connection.h"
#include "sql/postgres/placeholders.h"

namespace recourse::tests {
namespace {

using sql::postgres::Param;
using sql::postgres::PostgresConnection;
using Lines = std::vector<std::string>;

Lines ask(sql::Connection& connection, const std::string& question, const Statement& statement,
          const std::function<std::string(const sql::Row&)>& line_of) {
  Lines lines;
  const auto add = [&](const sql::Row& row) { lines.push_back(line_of(row)); };
  connection.set_deadline(std::chrono::steady_clock::now() + std::chrono::minutes(1));
  Result<> asked;
  if (const auto* params = std::get_if<std::vector<Param>>(&statement.values)) {
    asked = dynamic_cast<PostgresConnection&>(connection)
                .query_with(question + statement.text, *params, add);
  } else {
    std::vector<sql::Value> values;
    for (const KeptValue& value : std::get<std::vector<KeptValue>>(statement.values)) {
      values.push_back(value.view());
    }
    asked = connection.query(question + statement.text, values, add);
  }
  invariant(asked.has_value(),
            asked ? "" : std::string_view(asked.error().message + " in " + statement.text));
  return lines;
}

std::string first_column(const sql::Row& row) { return std::string(row.bytes(0)); }

// "Index Scan using NAME on TABLE", and below it "Index Cond: ..." unless it reads all of the
// index.
Plan read_postgres(const Lines& lines) {
  static const std::regex scan(
      R"((Seq Scan|Bitmap Heap Scan|Index Scan|Index Only Scan)( Backward)?( using (\w+))? on (\w+))");
  Plan plan;
  for (const std::string& line : lines) {
    plan.text += line + '\n';
    std::smatch found;
    if (std::regex_search(line, found, scan)) {
      plan.accesses.push_back({.table = found[5], .index = found[4], .is_scan = true});
    } else if (line.find("Index Cond:") != std::string::npos && !plan.accesses.empty()) {
      plan.accesses.back().is_scan = false;
    }
  }
  return plan;
}

// Columns: id, select_type, table, type, possible_keys, key, ..., Extra.
Plan read_mariadb(const Lines& lines) {
  Plan plan;
  for (const std::string& line : lines) {
    plan.text += line + '\n';
    static const std::regex columns(R"((\S+) (\S+) (\S+))");
    std::smatch found;
    if (!std::regex_search(line, found, columns) || found[1] == "NULL") continue;
    const std::string type = found[2];
    Access access{
        .table = found[1], .index = found[3], .is_scan = type == "ALL" || type == "index"};
    if (access.index == "PRIMARY") access.index = access.table + "_pkey";
    if (access.index == "NULL") access.index.clear();
    plan.accesses.push_back(std::move(access));
  }
  return plan;
}

Plan read_sqlite(const Lines& lines) {
  static const std::regex step(
      R"((SCAN|SEARCH) (\w+)( USING (COVERING )?(INDEX (\w+)|PRIMARY KEY))?)");
  Plan plan;
  for (const std::string& line : lines) {
    plan.text += line + '\n';
    std::smatch found;
    if (!std::regex_search(line, found, step)) continue;
    Access access{.table = found[2], .index = found[6], .is_scan = found[1] == "SCAN"};
    const bool is_key = access.index.starts_with("sqlite_autoindex") || found[5] == "PRIMARY KEY";
    if (is_key) access.index = access.table + "_pkey";
    plan.accesses.push_back(std::move(access));
  }
  return plan;
}

std::string column_or_null(const sql::Row& row, std::size_t column) {
  return row.is_null(column) ? "NULL" : std::string(row.bytes(column));
}

std::string type_of(const Param& param) {
  static const std::map<Oid, std::string> names{{17, "bytea"},    {20, "bigint"},
                                                {25, "text"},     {1001, "bytea[]"},
                                                {1009, "text[]"}, {1016, "bigint[]"}};
  return names.at(param.type);
}

std::string type_of(const KeptValue& value) {
  switch (value.type) {
    case KeptValue::Type::kNull: return "unknown";
    case KeptValue::Type::kInteger: return "bigint";
    case KeptValue::Type::kText: return "text";
    case KeptValue::Type::kBytes: return "bytea";
  }
  std::abort();
}

std::int64_t digits_after(const std::string& line, std::string_view word) {
  const std::size_t at = line.find(word);
  return at == std::string::npos ? 0 : std::strtoll(line.c_str() + at + word.size(), nullptr, 10);
}

// "Index Scan ... (actual rows=3 loops=2)", and below it what its filter threw away, each time too.
std::int64_t rows_of_postgres(const Lines& lines) {
  std::int64_t rows = 0;
  std::int64_t loops = 1;
  for (const std::string& line : lines) {
    if (line.find("actual rows=") != std::string::npos) {
      loops = std::max<std::int64_t>(1, digits_after(line, "loops="));
    }
    if (line.find("Scan") != std::string::npos) rows += loops * digits_after(line, "actual rows=");
    rows += loops * digits_after(line, "Rows Removed by Filter: ");
  }
  return rows;
}

}  // namespace

std::int64_t rows_read(Database database, sql::Connection& connection, const Statement& statement) {
  if (database == Database::kSqlite) return 0;
  invariant(connection.begin().has_value(), "a transaction to be rolled back");
  std::int64_t rows = 0;
  if (database == Database::kPostgres) {
    rows = rows_of_postgres(
        ask(connection, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ", statement, first_column));
  } else {
    constexpr std::size_t kRowsRead = 9;
    for (const std::string& line : ask(connection, "ANALYZE ", statement, [](const sql::Row& row) {
           return column_or_null(row, kRowsRead);
         })) {
      rows += std::strtoll(line.c_str(), nullptr, 10);
    }
  }
  connection.rollback();
  return rows;
}

Plan explain(Database database, sql::Connection& connection, const Statement& statement) {
  switch (database) {
    case Database::kPostgres:
      return read_postgres(ask(connection, "EXPLAIN ", statement, first_column));
    case Database::kMariadb:
      return read_mariadb(ask(connection, "EXPLAIN ", statement, [](const sql::Row& row) {
        return fmt::format("{} {} {} {}", column_or_null(row, 2), column_or_null(row, 3),
                           column_or_null(row, 5), column_or_null(row, 9));
      }));
    case Database::kSqlite:
      return read_sqlite(ask(connection, "EXPLAIN QUERY PLAN ", statement,
                             [](const sql::Row& row) { return std::string(row.bytes(3)); }));
  }
  std::abort();
}

Plan explain_for_any_values(sql::Connection& connection, const Statement& statement) {
  const std::vector<std::string> types = std::visit(
      [](const auto& values) {
        std::vector<std::string> all;
        for (const auto& value : values) all.push_back(type_of(value));
        return all;
      },
      statement.values);
  const std::vector<std::string> nulls(types.size(), "NULL");
  const bool has_any = !types.empty();
  const auto in_brackets = [&](const std::vector<std::string>& items) {
    return has_any ? fmt::format("({})", fmt::join(items, ", ")) : "";
  };
  static int count = 0;
  const std::string name = fmt::format("explained_{}", ++count);
  const std::string script = "SET plan_cache_mode = force_generic_plan; PREPARE " + name +
                             in_brackets(types) + " AS " +
                             sql::postgres::with_numbered_placeholders(statement.text);
  const Result<> prepared = connection.run(script);
  invariant(prepared.has_value(),
            prepared ? "" : std::string_view(prepared.error().message + " in " + statement.text));
  const Statement execute{.text = "EXECUTE " + name + in_brackets(nulls),
                          .values = std::vector<KeptValue>()};
  return read_postgres(ask(connection, "EXPLAIN ", execute, first_column));
}

}  // namespace recourse::tests
