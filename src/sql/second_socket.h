// A second name for a connection's socket, by which another thread can end what it waits for: shut
// down, the connection is lost. It stays ours, whenever its owner closes the first.
//
// Thread safety: shut_down() may be called from any thread.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace recourse::sql {

class SecondSocket {
 public:
  // -1: there is none.
  explicit SecondSocket(int socket)
      : socket_(socket < 0 ? -1 : ::fcntl(socket, F_DUPFD_CLOEXEC, 0)) {}
  ~SecondSocket() {
    if (socket_ >= 0) ::close(socket_);
  }
  SecondSocket(const SecondSocket&) = delete;
  SecondSocket& operator=(const SecondSocket&) = delete;

  [[nodiscard]] bool is_there() const { return socket_ >= 0; }
  void shut_down() const {
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  }

 private:
  const int socket_;
};

}  // namespace recourse::sql
