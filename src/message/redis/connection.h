// One connection to Redis. Values are always sent as arguments, never put into a text.
//
// After an error of the connection itself nothing else can follow on it; an error reply leaves it
// as it was. Both are translated.
//
// Thread safety: none.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "message/address.h"
#include "message/broker.h"
#include "message/redis/handles.h"

namespace recourse::message::redis {

using Command = std::vector<std::string>;

class Connection {
 public:
  Connection() = default;
  // Logged in, and on its database.
  static Result<Connection> open(const Address& address, Deadline deadline);

  Result<Reply> run(const Command& command, Deadline deadline);

  // The same in two steps, for who waits in between.
  Result<> send(const Command& command, Deadline deadline);
  Result<Reply> read(Deadline deadline);

  [[nodiscard]] int socket() const { return context_->fd; }
  // False once it is lost, or was never opened.
  [[nodiscard]] bool usable() const { return context_ && context_->err == 0; }

 private:
  explicit Connection(ContextHandle context) : context_(std::move(context)) {}

  Result<> log_in(const Address& address, Deadline deadline);
  void set_deadline(Deadline deadline);
  [[nodiscard]] Error lost() const;

  ContextHandle context_;
};

}  // namespace recourse::message::redis
