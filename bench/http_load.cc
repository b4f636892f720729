#include "bench/http_load.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace recourse::bench {
namespace {

using Clock = std::chrono::steady_clock;

void need(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::exit(1);
}

int connect_to(std::uint16_t port) {
  const int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  need(connect(opened, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0, "connect");
  const int now = 1;
  setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now));
  return opened;
}

class Generator {
 public:
  Generator(std::uint16_t port, const Load& load)
      : request_(load.request),
        status_(load.status),
        poll_(epoll_create1(EPOLL_CLOEXEC)),
        received_(static_cast<std::size_t>(load.connections)) {
    for (std::size_t at = 0; at < received_.size(); ++at) {
      sockets_.push_back(connect_to(port));
      epoll_event event{.events = EPOLLIN, .data = {.u64 = at}};
      need(epoll_ctl(poll_, EPOLL_CTL_ADD, sockets_[at], &event) == 0, "epoll_ctl");
      ask(at);
    }
  }
  ~Generator() {
    for (const int socket : sockets_) close(socket);
    close(poll_);
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  std::int64_t run_until(Clock::time_point end) {
    std::int64_t answered = 0;
    std::array<epoll_event, 64> events;
    while (Clock::now() < end) {
      const int ready = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 100);
      for (int i = 0; i < ready; ++i) {
        if (read_at(events[static_cast<std::size_t>(i)].data.u64)) ++answered;
      }
    }
    return answered;
  }

 private:
  void ask(std::size_t at) {
    const auto bytes = static_cast<ssize_t>(request_.size());
    need(send(sockets_[at], request_.data(), request_.size(), MSG_NOSIGNAL) == bytes, "send");
  }

  // True: an answer is whole, and the next is asked for.
  bool read_at(std::size_t at) {
    std::array<char, 16384> piece;
    const ssize_t got = recv(sockets_[at], piece.data(), piece.size(), 0);
    need(got > 0, "recv");
    const std::string_view text(piece.data(), static_cast<std::size_t>(got));
    if (answer_bytes_ == 0) answer_bytes_ = text.size();
    received_[at] += text.size();
    if (received_[at] < answer_bytes_) return false;
    need(received_[at] == answer_bytes_ && (text.size() < 12 || text.substr(9, 3) == status_),
         "an answer is not what was expected");
    received_[at] = 0;
    ask(at);
    return true;
  }

  std::string request_;
  std::string status_;
  int poll_;
  std::vector<int> sockets_;
  std::vector<std::size_t> received_;
  std::size_t answer_bytes_ = 0;
};

}  // namespace

double answers_per_second(std::uint16_t port, const Load& load) {
  Generator generator(port, load);
  generator.run_until(Clock::now() + load.lasts / 6);
  const Clock::time_point start = Clock::now();
  const std::int64_t answered = generator.run_until(start + load.lasts);
  return static_cast<double>(answered) /
         std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace recourse::bench
