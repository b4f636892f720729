#include "tests/support/private_server.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sql/mysql/connect.h"
#include "tests/support/stop_tests.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {
namespace {

// What it prints, without the end of the line.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) stop_tests("cannot run " + command);
  std::string output;
  std::array<char, 512> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  if (::pclose(pipe) != 0) stop_tests(command + " failed");
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

}  // namespace

std::string name_of(ServerKind kind) {
  switch (kind) {
    case ServerKind::kPostgres: return "postgres";
    case ServerKind::kMariadb: return "mariadb";
    case ServerKind::kRabbitmq: return "rabbitmq";
    case ServerKind::kRedis: return "redis";
  }
  std::abort();
}

PrivateServer::PrivateServer(ServerKind kind) : kind_(kind) {
  std::string pattern = "/tmp/recourse.XXXXXX";  // short, for the socket in it
  folder_ = ::mkdtemp(pattern.data());
  // The server runs as a user of its own.
  std::filesystem::permissions(folder_, std::filesystem::perms(0711));
  url_ = output_of(tool("start"));
  if (kind_ != ServerKind::kMariadb) return;
  auto connection =
      sql::mysql::connect(url_, std::chrono::steady_clock::now() + std::chrono::seconds(30));
  if (!connection) stop_tests(connection.error().message);
  if (const Result<> made = (*connection)->run("CREATE DATABASE test"); !made) {
    stop_tests(made.error().message);
  }
  url_ = with_database(url_, "test");
}

PrivateServer::~PrivateServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void PrivateServer::kill() { (void)output_of(tool("kill")); }

void PrivateServer::stop() { (void)output_of(tool("stop")); }

void PrivateServer::start() { (void)output_of(tool("start")); }

std::string PrivateServer::tool(const std::string& verb) const {
  return fmt::format("{}/tools/servers {} {} {}{}", RECOURSE_SOURCE_DIR, verb, name_of(kind_),
                     (folder_ / "s").string(), verb == "start" ? " --durable" : "");
}

}  // namespace recourse::tests
