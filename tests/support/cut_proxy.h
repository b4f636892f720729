// Stands between a client and a server on a port of this machine, and can be cut through: what a
// broker that goes away looks like, without the half minute that some take to come back.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace recourse::tests {

class CutProxy {
 public:
  explicit CutProxy(int server_port) : server_port_(server_port), listener_(listen()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  ~CutProxy() {
    thread_.request_stop();
    thread_.join();
    end_all();
    ::close(listener_);
  }
  CutProxy(const CutProxy&) = delete;
  CutProxy& operator=(const CutProxy&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // Breaks every connection; nobody gets through until mend().
  void cut() { is_cut_ = true; }
  void mend() { is_cut_ = false; }

 private:
  using Pair = std::array<int, 2>;

  static sockaddr_in address_of(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  int listen() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = address_of(0);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket, any, size) != 0 || ::listen(socket, 64) != 0) std::abort();
    if (::getsockname(socket, any, &size) != 0) std::abort();
    port_ = ntohs(address.sin_port);
    return socket;
  }
  void accept() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = address_of(server_port_);
    const auto* const any = reinterpret_cast<const sockaddr*>(&address);
    if (is_cut_ || ::connect(server, any, sizeof address) != 0) {
      end({client, server});
      return;
    }
    pairs_.push_back({client, server});
  }
  static void end(const Pair& pair) {
    for (const int socket : pair) ::close(socket);
  }
  void end_all() {
    for (const Pair& pair : std::exchange(pairs_, {})) end(pair);
  }
  // False when the connection is over.
  static bool pass(int from, int to) {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t more =
          ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += more;
    }
    return got > 0;
  }
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (is_cut_) end_all();
      std::vector<pollfd> files{{listener_, POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        for (const int socket : pair) files.push_back({socket, POLLIN, 0});
      }
      if (::poll(files.data(), files.size(), 10) <= 0) continue;
      std::size_t place = 1;
      std::erase_if(pairs_, [&](const Pair& pair) {
        const bool first = files[place++].revents != 0;
        const bool second = files[place++].revents != 0;
        const bool goes_on =
            (!first || pass(pair[0], pair[1])) && (!second || pass(pair[1], pair[0]));
        if (!goes_on) end(pair);
        return !goes_on;
      });
      if (files[0].revents != 0) accept();
    }
  }

  const int server_port_;
  int port_ = 0;
  const int listener_;
  std::vector<Pair> pairs_;  // of the serving thread alone
  std::atomic<bool> is_cut_ = false;
  std::jthread thread_;
};

}  // namespace recourse::tests
