#include "app/supervisor.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace recourse::app {
namespace {

// A supervisor that does not read must not stop the server.
constexpr timeval kSendPatience{.tv_sec = 1, .tv_usec = 0};

std::string_view value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// None where it is meant for another process, as for one whose child this is.
std::optional<Duration> watchdog_of(const Environment& environment) {
  const auto every = number_of(value_of(environment, "WATCHDOG_USEC"));
  const std::string_view process = value_of(environment, "WATCHDOG_PID");
  if (!every || *every <= 0 || (!process.empty() && number_of(process) != ::getpid())) {
    return std::nullopt;
  }
  return Duration(*every);
}

}  // namespace

Supervisor::Supervisor(const Environment& environment, Log& log) : log_(log) {
  const std::string_view name = value_of(environment, "NOTIFY_SOCKET");
  if (name.empty()) return;
  const bool is_name = name.front() == '/' || name.front() == '@';
  if (!is_name || name.size() >= sizeof(address_.sun_path)) {
    log_.warning("supervisor_unreachable", {{"socket", std::string(name)}});
    return;
  }
  address_.sun_family = AF_UNIX;
  name.copy(address_.sun_path, name.size());
  // No file, but a name of the system's.
  if (name.front() == '@') address_.sun_path[0] = '\0';
  length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof(kSendPatience));
  watchdog_ = watchdog_of(environment);
}

Supervisor::~Supervisor() {
  if (socket_ >= 0) ::close(socket_);
}

void Supervisor::stopping(Duration within, std::string_view status) {
  tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(within.count()), status);
}

void Supervisor::tell(std::string_view state, std::string_view status) {
  if (length_ == 0) return;
  std::string message(state);
  if (!status.empty()) message.append("\nSTATUS=").append(status);
  // Named each time: it may have been started again meanwhile.
  if (::sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address_), length_) >= 0) {
    return;
  }
  const int error = errno;
  if (!complained_.exchange(true)) {
    log_.warning("supervisor_not_told", {{"error", std::generic_category().message(error)}});
  }
}

}  // namespace recourse::app
