// What PostgreSQL's error codes mean for the caller, in one place (SQLSTATE: the manual, appendix
// A).
#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace recourse::sql::postgres {

ErrorCode code_of(std::string_view sqlstate);

// `message` is the server's own; what a person can do about it is added where we know it.
Error error_of(std::string_view sqlstate, std::string_view message);

// Only the primary message: the detail quotes the row, and that may be a payload.
Error error_of(const PGresult* result);

// The server's last word: it closes the connection after this.
bool is_last_word(const PGresult* result);

// Empty where libpq, not the server, made the result up: the connection is lost then.
std::string_view sqlstate_of(const PGresult* result);

// libpq tells the code of a refused connection only inside its text, in the fixed form that
// PQERRORS_VERBOSE gives it ("FATAL:  28P01: ...").
struct Refusal {
  std::string sqlstate;
  std::string message;
};
std::optional<Refusal> find_refusal(std::string_view libpq_text);

}  // namespace recourse::sql::postgres
