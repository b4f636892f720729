// The head of one request, read. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "http/message.h"
#include "http/server/rejection.h"

namespace recourse::http {

struct Head {
  Request request = {};  // without a body yet
  std::uint64_t body_bytes = 0;
  bool is_chunked = false;
  bool is_old = false;             // HTTP/1.0
  bool keep_alive = true;          // the client would like to ask more
  bool expects_continue = false;   // it waits for a word before it sends the body
  bool asks_whole_server = false;  // OPTIONS *
};

// `text` has passed a HeadScan, and ends with the empty line.
std::variant<Head, Rejection> read_head(std::string_view text);

// For Allow, and for those who ask the whole server.
std::string_view methods_there_are();

}  // namespace recourse::http
