// The head of an answer as text. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace recourse::http {

enum class BodyForm : std::uint8_t {
  kLength,    // its length is known
  kChunked,   // it goes on, in chunks
  kUntilEnd,  // it goes on until the connection closes: for HTTP/1.0
};

enum class After : std::uint8_t { kKeepAlive, kKeepAliveSaid, kClose };

// Appends to `out`. Headers that the transport owns are left out where the service gave them, and
// control characters become spaces: what comes from outside cannot begin a header of its own.
void write_head(const Response& response, BodyForm form, After after, std::string_view date,
                std::string& out);

// 204 and 304 have none, and say no length.
bool has_body(int status);

}  // namespace recourse::http
