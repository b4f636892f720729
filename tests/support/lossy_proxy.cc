#include "tests/support/lossy_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/url.hpp>
#include <cstring>
#include <set>
#include <utility>

#include "base/invariant.h"

namespace recourse::tests {

class LossyProxy::Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Empty at the end.
  [[nodiscard]] std::string read_some() const {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

 private:
  int fd_;
};

namespace {

constexpr std::string_view kPostgresSocket = ".s.PGSQL.5432";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  invariant(path.size() < sizeof(address.sun_path), "a socket's path is short");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int listen_at(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = address_of(path);
  const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  invariant(bound && ::listen(fd, 64) == 0, "the proxy listens");
  return fd;
}

// Negative where nobody listens.
int connect_to(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = address_of(path);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  ::close(fd);
  return -1;
}

std::string parameter(const std::string& url, std::string_view name) {
  const boost::urls::url_view parsed(url);
  const auto found = parsed.params().find(name);
  invariant(found != parsed.params().end(), "the test servers listen on unix sockets");
  return (*found).value;
}

// Tells whether what a client sends has a COMMIT in it.
class CommitSpotter {
 public:
  explicit CommitSpotter(ServerKind kind) : kind_(kind) {}

  bool sees_commit(std::string_view bytes) {
    if (kind_ == ServerKind::kMariadb)
      return bytes.find(
                 "\x03"
                 "COMMIT") != std::string_view::npos;
    pending_ += bytes;
    bool commits = false;
    while (const std::size_t size = message_size()) {
      commits = is_commit(std::string_view(pending_).substr(0, size)) || commits;
      pending_.erase(0, size);
    }
    return commits;
  }

 private:
  // Of the first message, 0 while it is not complete. The very first has no letter.
  [[nodiscard]] std::size_t message_size() {
    const std::size_t letter = has_started_ ? 1 : 0;
    if (pending_.size() < letter + 4) return 0;
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      size = size << 8 | static_cast<unsigned char>(pending_[letter + i]);
    }
    if (pending_.size() < size + letter) return 0;
    has_started_ = true;
    return size + letter;
  }

  // The statement is prepared under a name once, and bound by that name from then on.
  bool is_commit(std::string_view message) {
    constexpr std::size_t kHeader = 5;
    if (message[0] != 'P' && message[0] != 'B') return false;
    const std::string_view body = message.substr(kHeader);
    const std::string_view first = body.substr(0, body.find('\0'));
    const std::string_view rest = body.substr(first.size() + 1);
    const std::string second(rest.substr(0, rest.find('\0')));
    if (message[0] == 'P' && second == "COMMIT") names_.insert(std::string(first));
    return message[0] == 'B' && names_.contains(second);
  }

  ServerKind kind_;
  bool has_started_ = false;
  std::string pending_;
  std::set<std::string> names_;
};

}  // namespace

LossyProxy::LossyProxy(ServerKind kind, const std::string& server_url, std::string only_after)
    : kind_(kind),
      server_url_(server_url),
      server_path_(kind == ServerKind::kPostgres
                       ? parameter(server_url, "host") + "/" + std::string(kPostgresSocket)
                       : parameter(server_url, "socket")),
      only_after_(std::move(only_after)),
      listener_(std::make_unique<Socket>(listen_at(folder_.path() / kPostgresSocket))),
      thread_([this] { serve(); }) {}

LossyProxy::~LossyProxy() {
  thread_.request_stop();
  ::shutdown(listener_->fd(), SHUT_RDWR);
  thread_.join();
}

std::string LossyProxy::url() const {
  boost::urls::url url(server_url_);
  if (kind_ == ServerKind::kPostgres) {
    url.params().set("host", folder_.path().string());
  } else {
    url.params().set("socket", (folder_.path() / kPostgresSocket).string());
  }
  return std::string(url.buffer());
}

void LossyProxy::serve() {
  for (;;) {
    auto client = std::make_shared<Socket>(::accept(listener_->fd(), nullptr, nullptr));
    if (client->fd() < 0) break;
    if (is_down_) continue;
    auto server = std::make_shared<Socket>(connect_to(server_path_));
    if (server->fd() < 0) continue;
    connections_.emplace_back([this, client, server](const std::stop_token& stop) {
      forward(stop, *client, *server);
      ::shutdown(client->fd(), SHUT_RDWR);
    });
  }
  connections_.clear();
}

void LossyProxy::forward(const std::stop_token& stop, const Socket& client, const Socket& server) {
  CommitSpotter spotter(kind_);
  bool is_meant = false;
  std::array<pollfd, 2> ends{pollfd{client.fd(), POLLIN, 0}, pollfd{server.fd(), POLLIN, 0}};
  while (!stop.stop_requested()) {
    if (::poll(ends.data(), ends.size(), 10) <= 0) continue;
    if (ends[0].revents != 0) {
      const std::string bytes = client.read_some();
      is_meant = is_meant || bytes.find(only_after_) != std::string::npos;
      const bool is_commit = spotter.sees_commit(bytes) && is_meant;
      if (bytes.empty() || !pass_request(bytes, is_commit, server)) return;
    }
    if (ends[1].revents != 0) {
      const std::string bytes = server.read_some();
      if (bytes.empty() || !client.write_all(bytes)) return;
    }
  }
}

bool LossyProxy::pass_request(std::string_view bytes, bool is_commit, const Socket& server) {
  const Loss loss = is_commit ? loss_.exchange(Loss::kNone) : Loss::kNone;
  if (loss == Loss::kCommit) return false;
  if (loss == Loss::kReplyAndServer) is_down_ = true;
  if (!server.write_all(bytes)) return false;
  if (loss == Loss::kNone) return true;
  (void)server.read_some();  // it has answered, and so it has committed
  return false;
}

}  // namespace recourse::tests
