// Refusals as RFC 9457 problem documents: what is wrong, and how to correct it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"

namespace recourse::api {

struct FieldError {
  std::string pointer;  // RFC 6901, into the body; `?name` for a parameter of the query
  std::string detail;
};

struct Problem {
  int status = 400;
  std::string detail;
  std::vector<FieldError> errors = {};
  // Sent as Retry-After, in whole seconds; 429 and 503 always have one.
  std::optional<Duration> retry_after = std::nullopt;
  http::Headers headers = {};
};

http::Response to_response(const Problem& problem);
// By what the caller should do.
Problem problem_of(const Error& error);
// What such a status is called.
std::string_view title_of(int status);

}  // namespace recourse::api
