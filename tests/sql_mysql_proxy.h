// Stands between a client and a server, and can lose the server's answers.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/url.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "base/invariant.h"
#include "sql/mysql/address.h"

namespace recourse::sql::mysql {

// A file descriptor that is closed.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) { invariant(fd >= 0, "a test has sockets"); }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// Serves one connection.
class AnswerLosingProxy {
 public:
  explicit AnswerLosingProxy(const std::string& server_url)
      : server_url_(server_url),
        path_(make_path()),
        listener_(listen_at(path_)),
        upstream_(connect_to(parse_address(server_url).value())),
        thread_([this](const std::stop_token& stop) { forward(stop); }) {}
  ~AnswerLosingProxy() {
    thread_.request_stop();
    thread_.join();
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }
  AnswerLosingProxy(const AnswerLosingProxy&) = delete;
  AnswerLosingProxy& operator=(const AnswerLosingProxy&) = delete;

  [[nodiscard]] std::string url() const {
    boost::urls::url url(server_url_);
    url.params().set("socket", path_);
    return std::string(url.buffer());
  }
  // From here on the server hears the client, and the client nothing.
  void lose_answers() { is_losing_ = true; }

 private:
  static std::string make_path() {
    std::string folder = "/tmp/recourse_proxy_XXXXXX";
    invariant(mkdtemp(folder.data()) != nullptr, "a test has a folder");
    return folder + "/socket";
  }

  static sockaddr_un unix_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    invariant(path.size() < sizeof(address.sun_path), "a socket's path is short");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
  }

  static int connect_to(const Address& server) {
    if (server.socket.empty()) {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(server.port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      invariant(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0,
                "the test server listens on this machine");
      return fd;
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = unix_address(server.socket);
    invariant(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0,
              "the test server listens");
    return fd;
  }

  static int listen_at(const std::string& path) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = unix_address(path);
    invariant(
        bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 && listen(fd, 1) == 0,
        "the proxy listens");
    return fd;
  }

  void forward(const std::stop_token& stop) {
    const Socket client(accept(listener_.fd(), nullptr, nullptr));
    std::array<pollfd, 2> ends{pollfd{client.fd(), POLLIN, 0}, pollfd{upstream_.fd(), POLLIN, 0}};
    while (!stop.stop_requested()) {
      if (poll(ends.data(), ends.size(), 10) <= 0) continue;
      if (ends[0].revents != 0 && !pass(client.fd(), upstream_.fd())) return;
      if (ends[1].revents != 0 && !pass(upstream_.fd(), is_losing_ ? -1 : client.fd())) return;
    }
  }

  // False at the end. Into -1 goes what is lost.
  static bool pass(int from, int into) {
    std::array<char, 65536> buffer{};
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got <= 0) return false;
    if (into < 0) return true;
    return send(into, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
  }

  const std::string server_url_;
  const std::string path_;
  const Socket listener_;
  const Socket upstream_;
  std::atomic<bool> is_losing_ = false;
  std::jthread thread_;
};

}  // namespace recourse::sql::mysql
