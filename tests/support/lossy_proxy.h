// Stands between a store and its database server, on unix sockets, and loses a COMMIT or the reply
// to it.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/private_server.h"
#include "tests/support/temporary_directory.h"

namespace recourse::tests {

class LossyProxy {
 public:
  // `only_after`: of connections that have sent this text, and of no other, commits are lost.
  LossyProxy(ServerKind kind, const std::string& server_url, std::string only_after = {});
  ~LossyProxy();
  LossyProxy(const LossyProxy&) = delete;
  LossyProxy& operator=(const LossyProxy&) = delete;

  [[nodiscard]] std::string url() const;

  enum class Loss {
    kNone,
    kReply,           // the server has committed; then the connection breaks
    kReplyAndServer,  // the same, and nobody can connect again until mend()
    kCommit,          // the connection breaks before the server hears of the commit
  };
  // Of the next commit that comes by.
  void lose_next(Loss loss) { loss_ = loss; }
  [[nodiscard]] bool has_lost() const { return loss_ == Loss::kNone; }
  void mend() { is_down_ = false; }

 private:
  class Socket;

  void serve();
  void forward(const std::stop_token& stop, const Socket& client, const Socket& server);
  // False when the connection is over.
  bool pass_request(std::string_view bytes, bool is_commit, const Socket& server);

  const ServerKind kind_;
  const std::string server_url_;
  const std::string server_path_;
  const std::string only_after_;
  TemporaryDirectory folder_;
  std::unique_ptr<Socket> listener_;
  std::atomic<Loss> loss_ = Loss::kNone;
  std::atomic<bool> is_down_ = false;
  std::vector<std::jthread> connections_;  // only the listening thread touches it
  std::jthread thread_;
};

}  // namespace recourse::tests
