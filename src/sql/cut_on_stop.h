// Ends what a connection waits for where a stop comes: its socket is shut down, and the connection
// is lost.
//
// Thread safety: the stop may come from any thread.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <stop_token>

#include "sql/connection.h"

namespace recourse::sql {

class CutOnStop {
 public:
  CutOnStop(const Connection& connection, const std::stop_token& stop)
      : socket_(connection.socket()), on_stop_(stop, [this] { socket_.shut_down(); }) {}
  CutOnStop(const CutOnStop&) = delete;
  CutOnStop& operator=(const CutOnStop&) = delete;

 private:
  // A second name for the socket: it stays ours, whenever its owner closes it.
  class Second {
   public:
    explicit Second(int socket) : socket_(socket < 0 ? -1 : ::fcntl(socket, F_DUPFD_CLOEXEC, 0)) {}
    ~Second() {
      if (socket_ >= 0) ::close(socket_);
    }
    Second(const Second&) = delete;
    Second& operator=(const Second&) = delete;
    void shut_down() const {
      if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
    }

   private:
    const int socket_;
  };

  const Second socket_;
  // Last: its end waits for one that is under way.
  const std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace recourse::sql
