// For tests: a client that says exactly what it is told, byte by byte, right or wrong.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/message.h"

namespace recourse::http {

struct RawAnswer {
  int status = 0;  // 0: the connection closed, or nothing came for ten seconds
  std::string status_line = {};
  Headers headers = {};
  std::string body = {};

  [[nodiscard]] std::string header(std::string_view name) const {
    return std::string(headers.find(name).value_or(""));
  }
};

// Where the bytes go: a socket, or TLS over it.
class RawWire {
 public:
  virtual ~RawWire() = default;
  // Both as recv and send: bytes, 0 at the end, negative on failure.
  virtual std::ptrdiff_t read(char* to, std::size_t room) = 0;
  virtual std::ptrdiff_t write(const char* from, std::size_t bytes) = 0;
};

class RawClient {
 public:
  // Not connected where the server would not have it: every read then finds the end.
  explicit RawClient(std::uint16_t port, const std::string& host = "127.0.0.1");
  RawClient(RawClient&&) noexcept;
  ~RawClient();

  [[nodiscard]] bool is_connected() const { return socket_ >= 0; }
  [[nodiscard]] int socket() const { return socket_; }
  void use(std::unique_ptr<RawWire> wire) { wire_ = std::move(wire); }

  // False when the other side takes no more.
  bool send(std::string_view text);
  // Waits so long for something to read.
  bool has_answer(std::chrono::milliseconds within);
  // One answer with its body; to HEAD, `has_body` is false. 1xx are answers of their own.
  RawAnswer read_answer(bool has_body = true);
  RawAnswer ask(std::string_view request) {
    send(request);
    return read_answer();
  }
  // All that comes until the other side closes.
  std::string read_to_end();
  // At least as much, unless it closes first.
  std::string read_bytes(std::size_t bytes);
  std::string read_through(std::string_view mark);
  // True: closed, after nothing more. False: something came, or the connection was reset.
  bool ends_cleanly();
  [[nodiscard]] bool was_reset() const { return was_reset_; }
  // Nothing more will be sent, but answers are read.
  void close_own_side();
  void close();
  // Closes as a crashing program does.
  void reset();

 private:
  bool fill();
  std::string take(std::size_t bytes);
  std::string read_chunks();

  int socket_ = -1;
  std::unique_ptr<RawWire> wire_;
  std::string unread_;
  bool was_reset_ = false;
};

// `POST /path` with a body and its length, as a well-behaved client sends it.
std::string post(std::string_view path, std::string_view body);
std::string get(std::string_view path);

}  // namespace recourse::http
