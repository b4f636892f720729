// libpq's socket, used without ever blocking: every wait is a poll() that ends at the deadline.
//
// A server that does not answer in time costs the connection: it is closed at once, and the server,
// which was told to look (client_connection_check_interval), ends the statement and frees its
// locks. PQcancel would be quicker, but it waits without bound for a server that is frozen.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "sql/connection.h"
#include "sql/postgres/handles.h"

namespace recourse::sql::postgres {

// False when the deadline came first. Errors of the socket count as ready: libpq will find them.
bool wait_for_socket(int socket, short events, Deadline deadline);

class Wire {
 public:
  // The connection is open and in non-blocking mode.
  explicit Wire(ConnectionHandle connection) : connection_(std::move(connection)) {}

  void set_deadline(Deadline deadline) { deadline_ = deadline; }
  [[nodiscard]] Deadline deadline() const { return deadline_; }
  [[nodiscard]] bool has_time() const { return std::chrono::steady_clock::now() < deadline_; }

  // Null once it is lost.
  [[nodiscard]] PGconn* get() const { return connection_.get(); }
  [[nodiscard]] bool usable() const { return connection_ != nullptr; }

  // The next result, or null where libpq marks the end of a command. Sends what is still buffered
  // while it waits, because either side may be stuck until the other reads. Fails only when the
  // connection is lost.
  Result<ResultHandle> next_result();

  // Closes, and answers with libpq's reason as kUnavailable.
  Error lose();
  Error lose(const std::string& reason);

 private:
  ConnectionHandle connection_;
  Deadline deadline_ = Deadline::max();
};

}  // namespace recourse::sql::postgres
