// A database server or broker of the test's own, which it may kill.
#pragma once

#include <filesystem>
#include <string>

namespace recourse::tests {

enum class ServerKind { kPostgres, kMariadb, kRabbitmq, kRedis };

std::string name_of(ServerKind kind);

// Stops the program where the server does not start.
class PrivateServer {
 public:
  // Durable: what it has acknowledged outlives it.
  explicit PrivateServer(ServerKind kind);
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  // Of an empty database on it, or of the broker.
  [[nodiscard]] const std::string& url() const { return url_; }

  // kill -9, with all its processes.
  void kill();
  // As an operator does.
  void stop();
  // Again, after either; returns when it answers.
  void start();

 private:
  [[nodiscard]] std::string tool(const std::string& verb) const;

  ServerKind kind_;
  std::filesystem::path folder_;
  std::string url_;
};

}  // namespace recourse::tests
