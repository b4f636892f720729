// Who started the server and wants to hear of it: systemd, by the protocol of sd_notify(3), which
// container engines and other supervisors speak too. Datagrams of a line or two on a socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "app/config/load.h"
#include "base/log.h"
#include "base/time.h"

namespace recourse::app {

// Safe to use from any thread. Nothing is said where nobody listens.
class Supervisor {
 public:
  // As NOTIFY_SOCKET and WATCHDOG_USEC say. The log must outlive it.
  Supervisor(const Environment& environment, Log& log);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // `status` is a line for people.
  void ready(std::string_view status) { tell("READY=1", status); }
  // Until it is ready again.
  void reloading(std::string_view status) { tell("RELOADING=1", status); }
  // Not to be killed before that long, though the unit may say less.
  void stopping(Duration within, std::string_view status);
  // Wanted more often than every watchdog().
  void alive() { tell("WATCHDOG=1"); }
  [[nodiscard]] std::optional<Duration> watchdog() const { return watchdog_; }

 private:
  void tell(std::string_view state, std::string_view status = "");

  Log& log_;
  int socket_ = -1;
  sockaddr_un address_{};
  // Zero: nobody listens.
  socklen_t length_ = 0;
  std::optional<Duration> watchdog_;
  std::atomic<bool> complained_ = false;
};

}  // namespace recourse::app
