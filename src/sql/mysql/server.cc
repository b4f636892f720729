#include "sql/mysql/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace recourse::sql::mysql {

namespace {

std::string_view text_of(const char* cell) { return cell == nullptr ? "" : cell; }

void take_variable(Server& server, std::string_view name, std::string_view value) {
  if (name == "version") server.version = value;
  if (name == "max_statement_time") server.is_mariadb = true;  // MySQL calls it otherwise
  if (name == "wsrep_on") server.is_galera = value == "ON";
  if (name == "max_allowed_packet") {
    std::from_chars(value.data(), value.data() + value.size(), server.message_max);
  }
}

}  // namespace

Result<Server> ask_server(Wire& wire) {
  Server server;
  Result<> asked = wire.run(
      "SHOW VARIABLES WHERE Variable_name IN "
      "('max_allowed_packet', 'max_statement_time', 'version', 'wsrep_on')",
      [&](MYSQL_ROW row) { take_variable(server, text_of(row[0]), text_of(row[1])); });
  if (!asked) return fail(std::move(asked).error());
  server.has_bulk = wire.has_bulk();

  bool has_innodb = false;
  asked = wire.run("SELECT support FROM information_schema.engines WHERE engine = 'InnoDB'",
                   [&](MYSQL_ROW row) {
                     has_innodb = text_of(row[0]) == "DEFAULT" || text_of(row[0]) == "YES";
                   });
  if (!asked) return fail(std::move(asked).error());
  if (!has_innodb) {
    return fail(ErrorCode::kInvalid,
                "the database server has no InnoDB, which is what keeps transactions: enable it");
  }
  return server;
}

Result<> prepare_session(Wire& wire, const Server& server) {
  std::string statements =
      "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
      "SET time_zone = '+00:00', default_storage_engine = InnoDB,"
      " sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";
  // A client whose machine is gone must not keep its locks until TCP notices.
  if (server.is_mariadb) statements += ", idle_transaction_timeout = 60";
  return wire.run(statements, [](MYSQL_ROW) {});
}

Result<> send(Wire& wire, const Server& server, const Settings& settings) {
  const int lock_wait_min = server.is_mariadb ? 0 : 1;
  return wire.run(
      fmt::format("SET autocommit = {}, innodb_lock_wait_timeout = {}, {} = {}",
                  settings.autocommit ? 1 : 0, std::max(settings.lock_wait_s, lock_wait_min),
                  server.is_mariadb ? "max_statement_time" : "max_execution_time",
                  settings.statement_s * (server.is_mariadb ? 1 : 1'000)),
      [](MYSQL_ROW) {});
}

}  // namespace recourse::sql::mysql
