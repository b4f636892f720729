#include "http/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace recourse::http {
namespace {

constexpr int kSecondsToWait = 10;

class PlainWire final : public RawWire {
 public:
  explicit PlainWire(int socket) : socket_(socket) {}
  std::ptrdiff_t read(char* to, std::size_t room) override { return recv(socket_, to, room, 0); }
  std::ptrdiff_t write(const char* from, std::size_t bytes) override {
    return ::send(socket_, from, bytes, MSG_NOSIGNAL);
  }

 private:
  int socket_;
};

int open_socket(std::uint16_t port, const std::string& host) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  const bool is_v6 = inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1;
  if (!is_v6) inet_pton(AF_INET, host.c_str(), &v4.sin_addr);
  const int opened = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = kSecondsToWait, .tv_usec = 0};
  setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  const int now = 1;
  setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now));
  const auto* address =
      is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  if (connect(opened, address, is_v6 ? sizeof(v6) : sizeof(v4)) == 0) return opened;
  ::close(opened);
  return -1;
}

RawAnswer parse_head(std::string_view head) {
  RawAnswer answer;
  std::size_t end = head.find("\r\n");
  answer.status_line = head.substr(0, end);
  if (answer.status_line.size() > 12) answer.status = std::atoi(answer.status_line.c_str() + 9);
  for (head.remove_prefix(end + 2); !head.starts_with("\r\n"); head.remove_prefix(end + 2)) {
    end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    const std::size_t colon = line.find(": ");
    answer.headers.add(std::string(line.substr(0, colon)), std::string(line.substr(colon + 2)));
  }
  return answer;
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const std::string& host)
    : socket_(open_socket(port, host)), wire_(std::make_unique<PlainWire>(socket_)) {}

RawClient::RawClient(RawClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      wire_(std::move(other.wire_)),
      unread_(std::move(other.unread_)) {}

RawClient::~RawClient() { close(); }

bool RawClient::send(std::string_view text) {
  while (!text.empty()) {
    const std::ptrdiff_t sent = wire_->write(text.data(), text.size());
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::has_answer(std::chrono::milliseconds within) {
  pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
  return !unread_.empty() || poll(&readable, 1, static_cast<int>(within.count())) > 0;
}

bool RawClient::fill() {
  std::array<char, 16384> piece;
  const std::ptrdiff_t got = wire_->read(piece.data(), piece.size());
  was_reset_ = got < 0;
  if (got > 0) unread_.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::string RawClient::take(std::size_t bytes) {
  std::string taken = unread_.substr(0, bytes);
  unread_.erase(0, bytes);
  return taken;
}

std::string RawClient::read_bytes(std::size_t bytes) {
  while (unread_.size() < bytes && fill()) {
  }
  return take(bytes);
}

std::string RawClient::read_through(std::string_view mark) {
  while (unread_.find(mark) == std::string::npos) {
    if (!fill()) return {};
  }
  return take(unread_.find(mark) + mark.size());
}

std::string RawClient::read_to_end() {
  while (fill()) {
  }
  return take(unread_.size());
}

bool RawClient::ends_cleanly() { return read_to_end().empty() && !was_reset_; }

std::string RawClient::read_chunks() {
  std::string body;
  while (true) {
    const std::string size = read_through("\r\n");
    const std::size_t bytes = std::strtoul(size.c_str(), nullptr, 16);
    body += read_bytes(bytes);
    read_through("\r\n");
    if (bytes == 0) return body;
  }
}

RawAnswer RawClient::read_answer(bool has_body) {
  const std::string head = read_through("\r\n\r\n");
  if (head.empty()) return {};
  RawAnswer answer = parse_head(head);
  if (!has_body || answer.status < 200 || answer.status == 204) return answer;
  if (answer.header("Transfer-Encoding") == "chunked") {
    answer.body = read_chunks();
  } else if (answer.headers.find("Content-Length")) {
    answer.body = read_bytes(std::strtoul(answer.header("Content-Length").c_str(), nullptr, 10));
  } else {
    answer.body = read_to_end();
  }
  return answer;
}

void RawClient::close_own_side() { shutdown(socket_, SHUT_WR); }

void RawClient::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void RawClient::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close();
}

std::string post(std::string_view path, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{}", path,
                     body.size(), body);
}

std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n\r\n", path);
}

}  // namespace recourse::http
