#include "app/reachable.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace recourse::app {
namespace {

struct HostAndPort {
  std::string host;
  std::string port;
};

// IPv6 stands in brackets there, and without them here.
HostAndPort host_and_port_of(const std::string& origin) {
  const std::size_t begin = origin.find("://") + 3;
  const std::size_t colon = origin.rfind(':');
  HostAndPort there{.host = origin.substr(begin, colon - begin), .port = origin.substr(colon + 1)};
  if (there.host.starts_with('[') && there.host.ends_with(']')) {
    there.host = there.host.substr(1, there.host.size() - 2);
  }
  return there;
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// 0, or why not.
int try_address(const addrinfo& address, Duration limit) {
  const Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return errno;
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd wait{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  if (::poll(&wait, 1, static_cast<int>(milliseconds)) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Result<> connect_to(const std::string& origin, Duration limit) {
  const HostAndPort there = host_and_port_of(origin);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int looked_up = ::getaddrinfo(there.host.c_str(), there.port.c_str(), &hints, &found);
  if (looked_up != 0) return fail(ErrorCode::kNotFound, ::gai_strerror(looked_up));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    error = try_address(*address, limit);
    if (error == 0) return {};
  }
  return fail(ErrorCode::kUnavailable, std::generic_category().message(error));
}

}  // namespace recourse::app
