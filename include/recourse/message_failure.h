// How a message's handler says what went wrong, and how a program of its own decides about it.
//
//   throw recourse::MessageFailure("balance 50.00 is short of 100.00",
//                                  {.code = "INSUFFICIENT_BALANCE",
//                                   .business_id = order.id,
//                                   .custom_data = R"({"user_id": "12345"})",
//                                   .retryable = false});
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "recourse/time.h"

namespace recourse {

// All of it may be left out.
struct FailureDetail {
  // What it was elsewhere (SQLException); empty: the C++ name of what was thrown.
  std::string type = {};
  // A fixed word to search and count by, at most 64 characters.
  std::string code = {};
  // What the message is about, in the business's own words: its record is found by it.
  std::string business_id = {};
  // A JSON object for people; kept with the attempt.
  std::string custom_data = {};
  // Of a database's refusal: five characters. Those of lost connections, 08..., are retried.
  std::string sql_state = {};
  std::string stack_trace = {};
  // Empty: decided by what it is and says, as with any other exception.
  std::optional<bool> retryable = std::nullopt;
};

class MessageFailure : public std::runtime_error {
 public:
  explicit MessageFailure(const std::string& message, FailureDetail detail = {})
      : std::runtime_error(message), detail_(std::move(detail)) {}

  [[nodiscard]] const FailureDetail& detail() const { return detail_; }

 private:
  FailureDetail detail_;
};

// What a handler failed with, for those who decide themselves.
struct MessageError {
  // The C++ name of what was thrown; TIMEOUT where the handler did not answer.
  std::string exception_type;
  std::string code;
  std::string message;
  std::string sql_state;
  // What was thrown; empty where nothing was.
  std::exception_ptr thrown;
};

struct MessageDecision {
  // False: a person has to look.
  bool retry = true;
  // Empty: the failure's own.
  std::string code = {};
  // Not before; empty: by the delay.
  std::optional<Duration> after = std::nullopt;
};

}  // namespace recourse
