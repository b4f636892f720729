// What went wrong, for people: problem documents of the server, and calls without an answer.
#pragma once

#include <string>
#include <string_view>

#include "http/client.h"

namespace recourse::cli {

// The detail, a line for each field, and what to do next. `body` may be anything.
std::string problem_text(int status, std::string_view body, std::string_view server);

std::string trouble_text(const http::CallFailed& failed, std::string_view server);

}  // namespace recourse::cli
