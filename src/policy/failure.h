// What came back instead of a success, as each kind of runner sees it.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"

namespace recourse::policy {

// A handler threw.
struct Thrown {
  std::exception_ptr error;
};

// A handler answered that it did not work.
struct Declined {
  std::string reason;
};

// No answer within the attempt's time. Not a failure in itself: whether it happened is unknown.
struct TimedOut {
  Duration limit;
};

// No connection, or one that broke before the answer.
struct Unreachable {
  std::string reason;
  // The connection broke after something was sent: it may have happened all the same.
  bool was_sent = false;
};

// An HTTP status other than 2xx.
struct HttpAnswer {
  int status;
  std::string reason;
  std::optional<Duration> retry_after;
};

// A database refused: its five-character SQL state and message.
struct SqlFailure {
  std::string state;
  std::string message;
};

using Failure = std::variant<Thrown, Declined, TimedOut, Unreachable, HttpAnswer, SqlFailure>;

struct FailureText {
  std::string type;     // of an exception its C++ name, of all others a fixed word
  std::string message;  // clean and at most 4,000 characters
};

FailureText describe(const Failure& failure);

}  // namespace recourse::policy
