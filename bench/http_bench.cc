// ./dev bench http: how many requests of 1 KiB a second our server answers on one thread, over 64
// connections that stay, beside a loop that only reads and writes as many bytes. The load comes
// from this process too.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "bench/http_load.h"
#include "bench/report.h"
#include "http/server.h"

namespace recourse::bench {
namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nServer: recourse\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "Content-Type: application/json\r\nContent-Length: 33\r\n\r\n"
    R"({"id":"tsk_01J0000000000000000"} )";

Load load() {
  const std::string body(1024, 'x');
  return {.request =
              "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost:7070\r\nUser-Agent: bench\r\n"
              "Content-Type: application/json\r\nAccept: */*\r\nContent-Length: 1024\r\n\r\n" +
              body};
}

// Reads what comes and answers each read: what the machine and the load generator allow.
class BareLoop {
 public:
  BareLoop() : poll_(epoll_create1(EPOLL_CLOEXEC)), listening_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    listen(listening_, 128);
    socklen_t bytes = sizeof(address);
    getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &bytes);
    port_ = ntohs(address.sin_port);
    watch(listening_);
    thread_ = std::thread([this] { run(); });
  }
  ~BareLoop() {
    over_ = true;
    thread_.join();
    close(listening_);
    close(poll_);
  }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void watch(int socket) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
    epoll_ctl(poll_, EPOLL_CTL_ADD, socket, &event);
  }
  void welcome() const {
    const int socket = accept(listening_, nullptr, nullptr);
    const int now = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now));
    watch(socket);
  }
  void run() const {
    std::array<epoll_event, 64> events;
    std::array<char, 16384> request;
    while (!over_) {
      const int ready = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 10);
      for (int i = 0; i < ready; ++i) {
        const int socket = events[static_cast<std::size_t>(i)].data.fd;
        if (socket == listening_) {
          welcome();
        } else if (recv(socket, request.data(), request.size(), 0) > 0) {
          send(socket, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
        } else {
          close(socket);
        }
      }
    }
  }

  int poll_;
  int listening_;
  std::uint16_t port_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

double ours() {
  NullLog log;
  const auto answer = [](const http::Request&, http::Responder responder) {
    std::move(responder).send({.headers = {{"Content-Type", "application/json"}},
                               .body = R"({"id":"tsk_01J0000000000000000"} )"});
  };
  const auto refuse = [](int status, std::string_view) { return http::Response{.status = status}; };
  const auto server = http::Server::start({.listen = "127.0.0.1:0"}, answer, refuse, log).value();
  return answers_per_second(server->port(), load());
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  double bare = 0;
  {
    const BareLoop loop;
    bare = answers_per_second(loop.port(), load());
  }
  const double served = ours();
  print({{.bench = "http",
          .name = "64 connections, 1 KiB, answered at once",
          .value = served,
          .unit = "requests/s",
          .comparison =
              Comparison{.reference = "a loop that reads and writes", .ratio = served / bare},
          .goal = "tens of thousands"}},
        format);
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
