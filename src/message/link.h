// Keeps one connection to a broker: opened by whoever needs it, again with a growing pause after it
// was lost, and told about once each way.
//
// Thread safety: none, but for interrupt().
#pragma once

#include <string>

#include "base/function_ref.h"
#include "base/log.h"
#include "base/result.h"
#include "message/broker.h"
#include "message/reconnect.h"
#include "message/settings.h"
#include "message/wakeup.h"

namespace recourse::message {

class Link {
 public:
  // `place` is for people: a host and a port.
  Link(const SourceSettings& settings, std::string place, Log& log);

  // Opens what is not open. Within the pause after a failure it waits, until the pause or the
  // deadline is over; then the error of the last try is the answer.
  Result<> ensure(FunctionRef<Result<>(Deadline)> open, Deadline deadline);
  [[nodiscard]] bool is_up() const { return is_up_; }

  // The connection is gone with `undecided` messages. Answers what to tell the caller.
  Error lost(const Error& why, std::size_t undecided);
  void closed() { is_up_ = false; }

  Wakeup& wakeup() { return wakeup_; }
  Log& log() { return log_; }

 private:
  std::string name_;
  std::string place_;
  Log& log_;
  ReconnectPace pace_;
  Wakeup wakeup_;
  Error last_error_{ErrorCode::kUnavailable, {}};
  bool is_up_ = false;
};

}  // namespace recourse::message
