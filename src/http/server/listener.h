// Takes connections in on one address, for as long as there is room.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "http/server/asio.h"
#include "http/server/connection.h"
#include "http/server/connections.h"
#include "http/server/serving.h"

namespace recourse::http {

class Listener {
 public:
  // All must outlive it.
  Listener(asio::io_context& io, Serving& serving, Connections& connections);

  // Binds and listens; nothing is taken in before start().
  Result<> open();
  [[nodiscard]] std::uint16_t port() const { return port_; }
  void start();
  // From any thread; what waits in the kernel's line is reset.
  void close();

 private:
  Awaitable<> accept();
  void welcome(Socket socket);

  asio::io_context& io_;
  Serving& serving_;
  Connections& connections_;
  Acceptor acceptor_;
  Timer pause_;
  std::uint16_t port_ = 0;
};

}  // namespace recourse::http
