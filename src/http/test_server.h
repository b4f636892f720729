// For tests: a little HTTP/1.1 server on loopback that answers what a test tells it to, byte by
// byte, rightly or wrongly, at once, later or never. One thread, any number of connections.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "http/message.h"

namespace recourse::http {

class TestServer {
 public:
  struct Seen {
    std::string method = {};
    std::string target = {};
    Headers headers = {};
    std::string body = {};
  };
  enum class Then : std::uint8_t { kKeep, kClose, kReset, kNothing };
  struct Reply {
    std::string bytes = {};
    Duration after = Duration::zero();
    Then then = Then::kKeep;
  };
  using Script = std::function<Reply(const Seen&)>;

  // A whole answer.
  static std::string answer(int status, std::string_view body = "", std::string_view headers = "") {
    return "HTTP/1.1 " + std::to_string(status) +
           " Whatever\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(headers) + "\r\n" + std::string(body);
  }
  // Never answers.
  static Reply silence() { return {.then = Then::kNothing}; }

  explicit TestServer(Script script, const char* address = "127.0.0.1")
      : script_(std::move(script)),
        acceptor_(context_, {boost::asio::ip::make_address(address), 0}) {
    acceptor_.listen(4096);
    accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~TestServer() {
    context_.stop();
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  [[nodiscard]] std::string url(const std::string& target = "/",
                                const std::string& host = "127.0.0.1") const {
    return "http://" + host + ":" + std::to_string(port()) + target;
  }
  // So far.
  [[nodiscard]] int connections() const { return connections_; }
  // Waits until that many requests have come and are not answered yet.
  // False: they have not come within a minute.
  bool wait_for_open_requests(int count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1),
                             [&] { return open_requests_ >= count; });
  }
  [[nodiscard]] std::vector<Seen> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  using Failed = boost::system::error_code;

  struct Session : std::enable_shared_from_this<Session> {
    Session(TestServer& its_server, Socket its_socket)
        : server(its_server), socket(std::move(its_socket)), timer(server.context_) {}

    void read() {
      boost::asio::async_read_until(socket, buffer, "\r\n\r\n",
                                    [self = shared_from_this()](Failed failed, std::size_t head) {
                                      if (!failed) self->take_head(head);
                                    });
    }
    void take_head(std::size_t size) {
      seen = {};
      std::string head(boost::asio::buffers_begin(buffer.data()),
                       boost::asio::buffers_begin(buffer.data()) + static_cast<long>(size));
      buffer.consume(size);
      std::string_view rest = head;
      const auto next_line = [&rest] {
        const std::size_t end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 2);
        return line;
      };
      const std::string_view first = next_line();
      const std::size_t space = first.find(' ');
      seen.method = first.substr(0, space);
      seen.target = first.substr(space + 1, first.rfind(' ') - space - 1);
      for (auto line = next_line(); !line.empty(); line = next_line()) {
        const std::size_t colon = line.find(':');
        const std::size_t value = line.find_first_not_of(' ', colon + 1);
        seen.headers.add(std::string(line.substr(0, colon)),
                         value == std::string_view::npos ? "" : std::string(line.substr(value)));
      }
      read_body();
    }
    void read_body() {
      std::size_t wanted = 0;
      const auto length = seen.headers.find("content-length").value_or("0");
      std::from_chars(length.data(), length.data() + length.size(), wanted);
      const std::size_t missing = wanted - std::min(wanted, buffer.size());
      boost::asio::async_read(socket, buffer, boost::asio::transfer_exactly(missing),
                              [self = shared_from_this(), wanted](Failed failed, std::size_t) {
                                if (failed) return;
                                const auto begin = boost::asio::buffers_begin(self->buffer.data());
                                self->seen.body.assign(begin, begin + static_cast<long>(wanted));
                                self->buffer.consume(wanted);
                                self->reply_to_it();
                              });
    }
    void reply_to_it() {
      {
        const std::lock_guard lock(server.mutex_);
        server.seen_.push_back(seen);
        ++server.open_requests_;
      }
      server.changed_.notify_all();
      reply = server.script_(seen);
      if (reply.then == Then::kNothing && reply.bytes.empty()) return read();
      if (reply.after == Duration::zero()) return write();
      timer.expires_after(reply.after);
      timer.async_wait([self = shared_from_this()](Failed failed) {
        if (!failed) self->write();
      });
    }
    void write() {
      {
        const std::lock_guard lock(server.mutex_);
        --server.open_requests_;
      }
      boost::asio::async_write(socket, boost::asio::buffer(reply.bytes),
                               [self = shared_from_this()](Failed failed, std::size_t) {
                                 if (!failed) self->go_on();
                               });
    }
    void go_on() {
      if (reply.then == Then::kReset) {
        socket.set_option(boost::asio::socket_base::linger(true, 0));
        socket.close();
      }
      if (reply.then == Then::kKeep || reply.then == Then::kNothing) read();
    }

    TestServer& server;
    Socket socket;
    boost::asio::steady_timer timer;
    boost::asio::streambuf buffer = boost::asio::streambuf();
    Seen seen = {};
    Reply reply = {};
  };

  void accept() {
    acceptor_.async_accept([this](Failed failed, Socket socket) {
      if (failed) return;
      ++connections_;
      std::make_shared<Session>(*this, std::move(socket))->read();
      accept();
    });
  }

  const Script script_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Seen> seen_;
  std::atomic<int> connections_ = 0;
  int open_requests_ = 0;  // under the lock
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::thread thread_;
};

}  // namespace recourse::http
