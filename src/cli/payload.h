// A payload on its way into a request's body. The task gets the bytes as they were given: not one
// space is lost, and no number is read and written again.
#pragma once

#include <CLI/App.hpp>
#include <boost/json.hpp>
#include <istream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace recourse::cli {

// `"payload": {...}` where the bytes are JSON and nothing around it; `"payload_base64": "..."`
// otherwise.
std::string payload_member(std::string_view bytes);

struct PayloadFlags {
  // Given on the command line, in a file, or on standard input where the file's name is -.
  std::string text = {};
  std::string file = {};

  [[nodiscard]] bool given() const { return !text.empty() || !file.empty(); }
};

void add_payload_flags(CLI::App& command, PayloadFlags& flags);
// The body with it, put in as text, so that nothing reads and writes it again.
std::string with_payload(const boost::json::object& body, std::string_view payload);

// The error says what to do.
Result<std::string> read_payload(const PayloadFlags& flags, std::istream& in);

}  // namespace recourse::cli
