#include "tests/support/test_servers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "tests/support/stop_tests.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;

std::string url_from(const char* variable) {
  const char* url = std::getenv(variable);
  if (url == nullptr || *url == '\0') {
    stop_tests(fmt::format("{} is not set: start the test servers with ./dev test", variable));
  }
  return url;
}

// Several test programs run at once on one server, and one may be what is left of a killed one.
std::string unused_name() {
  static std::atomic<int> count = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("test_{}_{}_{}", getpid(), now / 1us, ++count);
}

void run_on_mariadb(const std::string& server, const std::string& statement) {
  auto connection = sql::mysql::connect(server, std::chrono::steady_clock::now() + 60s);
  if (!connection) stop_tests(connection.error().message);
  const Result<> done = (*connection)->run(statement);
  if (!done) stop_tests(done.error().message);
}

}  // namespace

// PostgreSQL waits five seconds for whoever it has sent out of a database: on a busy machine that
// is not always enough.
void run_on_postgres(const std::string& statement) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  auto connection = sql::postgres::connect(postgres_url(), end);
  if (!connection) stop_tests(connection.error().message);
  Result<> done = (*connection)->run(statement);
  while (!done && std::chrono::steady_clock::now() < end &&
         done.error().message.find("being accessed by other users") != std::string::npos) {
    std::this_thread::sleep_for(100ms);
    done = (*connection)->run(statement);
  }
  if (!done) stop_tests(done.error().message);
}

std::string postgres_url() { return url_from("RECOURSE_TEST_POSTGRES"); }
std::string mariadb_url() { return url_from("RECOURSE_TEST_MARIADB"); }

std::optional<std::string> mysql_url() {
  const char* url = std::getenv("RECOURSE_TEST_MYSQL");
  return url == nullptr ? std::nullopt : std::optional<std::string>(url);
}

// template0 has no connections, which would stop the copy. Files copy quicker than the log.
FreshPostgres::FreshPostgres(std::string_view options, std::string_view source)
    : name_(unused_name()) {
  run_on_postgres(
      fmt::format("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy {}", name_, source, options));
}

FreshPostgres::~FreshPostgres() {
  run_on_postgres(fmt::format("DROP DATABASE {} WITH (FORCE)", name_));
}

std::string FreshPostgres::url() const { return with_database(postgres_url(), name_); }

FreshMariadb::FreshMariadb(std::string server) : server_(std::move(server)), name_(unused_name()) {
  run_on_mariadb(server_, fmt::format("CREATE DATABASE {}", name_));
}

FreshMariadb::~FreshMariadb() { run_on_mariadb(server_, fmt::format("DROP DATABASE {}", name_)); }

std::string FreshMariadb::url() const { return with_database(server_, name_); }

std::string with_database(const std::string& url, const std::string& database) {
  const std::size_t path = url.find('/', url.find("://") + 3);
  const std::size_t query = url.find('?', path);
  const std::string rest = query == std::string::npos ? "" : url.substr(query);
  return url.substr(0, path) + '/' + database + rest;
}

}  // namespace recourse::tests
