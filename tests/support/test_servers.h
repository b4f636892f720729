// The database servers that ./dev test starts, and fresh databases on them. A missing server is a
// failure, never a skip that nobody sees.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recourse::tests {

// Each stops the program where the server is missing.
std::string postgres_url();
std::string mariadb_url();

// Runs a statement on the server's first database, again and again while the database that it
// names still has connections.
void run_on_postgres(const std::string& statement);

// A database with an unused name, which the destructor drops: a copy of `source`, by default of the
// empty template0.
class FreshPostgres {
 public:
  // `options` are added to CREATE DATABASE.
  explicit FreshPostgres(std::string_view options = "", std::string_view source = "template0");
  ~FreshPostgres();
  FreshPostgres(const FreshPostgres&) = delete;
  FreshPostgres& operator=(const FreshPostgres&) = delete;

  [[nodiscard]] std::string url() const;

 private:
  std::string name_;
};

// A MySQL server, where somebody has one and names it.
std::optional<std::string> mysql_url();

class FreshMariadb {
 public:
  // On that server.
  explicit FreshMariadb(std::string server = mariadb_url());
  ~FreshMariadb();
  FreshMariadb(const FreshMariadb&) = delete;
  FreshMariadb& operator=(const FreshMariadb&) = delete;

  [[nodiscard]] std::string url() const;

 private:
  std::string server_;
  std::string name_;
};

// The same server under another database.
std::string with_database(const std::string& url, const std::string& database);

}  // namespace recourse::tests
